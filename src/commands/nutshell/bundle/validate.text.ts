import { command } from "../../../cli/command.js";
import { count, dim, green, red, yellow } from "../../../cli/text.js";
import { LIMIT_FLAGS } from "../pack-flags.js";
import { validate } from "./validate.js";

export default command(validate, {
  positionals: [
    { name: "target", about: "a .nut file, a folder, a manifest (.json), or - (default: here)", optional: true },
  ],
  flags: LIMIT_FLAGS,
  about: ["Reads everything, changes nothing. A damaged or unsafe bundle is an answer (no), not a failure."],
  examples: [
    ["nutshell validate task.nut", "archive, hashes, schema, references"],
    ["nutshell validate --json ./my-task || exit 1", "in CI"],
  ],
  text: ({ valid, findings, errors, warnings }) => [
    ...findings.map(({ severity, message, fix }) => {
      const mark = severity === "error" ? red("✗") : yellow("⚠");
      return `${mark} ${message}${fix === undefined ? "" : ` ${dim(`(${fix})`)}`}`;
    }),
    valid
      ? `${green("valid")}${warnings.length > 0 ? `, ${count(warnings.length, "warning")}` : ""}`
      : `${red("invalid")}: ${count(errors.length, "error")}`,
  ],
  exit: ({ valid }) => (valid ? 0 : 1),
});
