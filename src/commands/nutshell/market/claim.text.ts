import { command } from "../../../cli/command.js";
import { green, yellow } from "../../../cli/text.js";
import { claim } from "./claim.js";
import { CLAWNET } from "./clawnet-flags.js";

export default command(claim, {
  about: [
    "Downloads the bundle, checks it against the hash the author published, opens it if it was sealed for you, and unpacks it. The task's id is noted in the manifest, so that deliver knows where the work belongs.",
  ],
  examples: [["nutshell claim 3f2a -o workspace", "a folder to work in"]],
  positionals: [{ name: "id", about: "task id, or enough of its beginning" }],
  flags: {
    output: { short: "o", value: "<dir>", about: "folder to make (default: from the title)" },
    identity: { short: "i", value: "<file>", about: "key that opens a sealed bundle (default: the daemon's)" },
    ...CLAWNET,
  },
  text: (task) => [
    `${green("✓")} ${task.title} → ${task.dir}`,
    task.verified === "published"
      ? `  ${task.sealed ? "opened, and " : ""}checked against the published hash`
      : `  ${yellow("unverified:")} the author published no hash`,
    `next: ${task.next}`,
  ],
});
