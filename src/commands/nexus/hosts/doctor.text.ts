import { command } from "../../../cli/command.js";
import { dim, green, red, table, yellow } from "../../../cli/text.js";
import { doctor } from "./doctor.js";

const MARKS = { ok: green("ok"), absent: dim("–"), warning: yellow("warning"), problem: red("problem") };

export default command(doctor, {
  positionals: [{ name: "host", about: "claude, codex or opencode; all when left out", optional: true }],
  about: [
    "Starts the MCP server, runs every hook the way a host would, reads the deny lists back, and asks Codex which hooks it trusts.",
    "Answers 1 when something is wrong; each problem comes with its fix.",
  ],
  examples: [
    ["nexus doctor", "everything"],
    ["nexus doctor codex --json", "one host, for a script"],
  ],
  input: (values) => ({ ...values, node: process.execPath, nodeVersion: process.version }),
  text: ({ checks, ok }) => [
    ...table(checks.map(({ what, state, message }) => [MARKS[state], what, message])),
    ...checks
      .filter(({ fix, state }) => fix !== undefined && state !== "ok")
      .map(({ what, fix }) => `fix ${what}: ${fix}`),
    ok ? "nothing is wrong" : "something is wrong",
  ],
  exit: ({ ok }) => (ok ? 0 : 1),
});
