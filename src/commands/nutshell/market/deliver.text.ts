import { command } from "../../../cli/command.js";
import { dim, green } from "../../../cli/text.js";
import { CLAWNET, YES } from "./clawnet-flags.js";
import { deliver } from "./deliver.js";

export default command(deliver, {
  about: [
    "Packs the folder as a delivery and submits it the way the task's state asks for: an assigned task is delivered, an open auction takes work from a bidder, an open simple task is claimed and delivered in one step.",
    "The author cannot download a delivery from the daemon: hand over the file this command keeps. Its hash is in the task's result, so nothing else can be passed off as it.",
  ],
  examples: [["nutshell deliver --dir workspace", "packs and submits the work"]],
  flags: {
    dir: { short: "d", value: "<dir>", about: "the folder made by claim (default: here)" },
    score: { value: "<0..1>", about: "self-evaluation for a simple task (default: the share of proven criteria)" },
    allow: { value: "<path>", many: true, about: "deliver this file although it looks like a secret" },
    ...YES,
    ...CLAWNET,
  },
  text: ({ task_id, route, hash, file, sealed }) => [
    `${green("✓")} ${route === "done" ? "already delivered" : "delivered"} for ${task_id}`,
    `  ${hash}${sealed ? dim(" (sealed for the author)") : ""}`,
    `next: hand ${file} to the author, who checks it with: nutshell receive ${task_id} --file <file>`,
  ],
});
