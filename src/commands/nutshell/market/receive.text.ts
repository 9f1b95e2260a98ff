import { command } from "../../../cli/command.js";
import { green, red } from "../../../cli/text.js";
import { CLAWNET, YES } from "./clawnet-flags.js";
import { receive } from "./receive.js";

export default command(receive, {
  about: [
    "Checks that the file is the delivery that was submitted, then verifies it: hashes, links to the request, and whether each claim is proven, judged or only said. On a terminal it then asks what to do.",
  ],
  examples: [
    [
      "nutshell receive 3f2a --file work.delivery.nut --rerun --approve --yes",
      "verify by running the tests again, then pay",
    ],
  ],
  positionals: [{ name: "id", about: "your task's id, or enough of its beginning" }],
  flags: {
    file: { value: "<file>", about: "the delivery the worker handed over" },
    request: { short: "r", value: "<request>", about: "the request as published (kept by publish)" },
    identity: { short: "i", value: "<file>", about: "key that opens a sealed delivery (default: the daemon's)" },
    rerun: { about: "run the acceptance again in a clean folder" },
    approve: { about: "pay when it verifies" },
    reject: { about: "refuse it" },
    ...YES,
    ...CLAWNET,
  },
  text: ({ task_id, hash, verified, settled, paid }) => [
    `${green("✓")} this is the delivery that was submitted: ${hash}`,
    verified ? `${green("✓")} it proves what it claims` : `${red("✗")} it does not prove what it claims`,
    settled === null
      ? `next: nutshell approve ${task_id}   or: nutshell reject ${task_id}`
      : `${settled}${paid > 0 ? `, ${paid} shells paid` : ""}`,
  ],
  exit: ({ verified }) => (verified ? 0 : 1),
});
