import { command } from "../../../cli/command.js";
import { accept } from "./accept.js";
import { acceptanceFlags, reportLines } from "./acceptance-text.js";

export default command(accept, {
  positionals: [
    { name: "target", about: "the result: a folder, a delivery, or the request (default: here)", optional: true },
  ],
  flags: {
    request: { short: "r", value: "<request>", about: "the untouched request, a bundle or a folder" },
    junit: { value: "<file>", about: "write the results as JUnit XML" },
    logs: { value: "<dir>", about: "keep one log per check" },
    "no-baseline": { about: "do not ask what the untouched request already passes" },
    ...acceptanceFlags,
  },
  about: [
    "Rebuilds the result beside the workspace, puts the request's own tests back as they were, and runs criteria and test scripts there: sandboxed, without a network, within their time limits.",
    "With --request, every check that passes is run on the untouched request too: one that passes there proves nothing. Without it nothing is proven: there is nothing to compare with.",
  ],
  examples: [
    ["nutshell accept ./work --request task.nut", "does the work pass?"],
    ["nutshell accept ./work -r task.nut --junit report.xml", "in CI"],
    ["nutshell accept task.nut", "what the request passes before any work"],
  ],
  text: reportLines,
  exit: ({ verdict }) => (verdict === "passed" ? 0 : 1),
});
