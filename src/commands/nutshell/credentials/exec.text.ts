import { rawCommand } from "../../../cli/command.js";
import { contextOf } from "../../../cli/io.js";
import { progressLine } from "../../../cli/progress.js";
import { render } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { DIR } from "../flags.js";
import { identityFlag } from "./credentials-flags.js";
import { restrictionLines } from "./credentials-text.js";
import { ExecInput, execWith } from "./exec.js";

export default rawCommand({
  rest: "command",
  flags: {
    with: { short: "w", value: "<name>", many: true, about: "a credential to hand out" },
    purpose: { value: "<text>", about: "why, for the record of uses" },
    ...DIR,
    ...identityFlag,
  },
  about: [
    "The values are in the program's environment and nowhere else, and are taken out of what it prints. A credential staging-db with fields becomes $STAGING_DB_HOST, $STAGING_DB_PASSWORD… and $STAGING_DB with all of it as JSON; a plain text becomes $STAGING_DB.",
    "Its exit status is the program's. Every use is recorded by name, time and purpose in delivery/logs/credentials.jsonl.",
  ],
  examples: [["nutshell exec --with staging-db -- ./migrate.sh", "for one command"]],
  async run({ json, quiet, ...values }, io) {
    const input = ExecInput.safeParse(values);
    if (!input.success) {
      throw new NutError(
        "USAGE",
        `nutshell exec: --${String(input.error.issues[0]?.path[0])}: ${input.error.issues[0]?.message}`,
        {
          hint: "nutshell exec --with <name> -- <command>",
        },
      );
    }
    const context = contextOf(
      io,
      json === true,
      progressLine(io, { program: "nutshell", quiet: quiet === true, color: false }).show,
    );
    return execWith(input.data, context, {
      stdout: io.stdout,
      stderr: io.stderr,
      terms(terms) {
        if (quiet === true) return;
        for (const line of terms.flatMap(restrictionLines)) io.stderr.write(`${render(`nutshell: ${line}`, false)}\n`);
      },
    });
  },
});
