import { rawCommand } from "../../../cli/command.js";
import { contextOf } from "../../../cli/io.js";
import { progressLine } from "../../../cli/progress.js";
import { printable } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { DIR } from "../flags.js";
import { identityFlag } from "./credentials-flags.js";
import { reveal } from "./reveal.js";

export default rawCommand({
  positionals: [{ name: "name", about: "the credential", optional: true }],
  flags: {
    field: { short: "f", value: "<field>", about: "one field of a value that is an object" },
    show: { about: "print it on a terminal; without this only a pipe gets it" },
    all: { about: "the whole vault as it is inside, byte for byte" },
    file: { value: "<file>", about: "with --all: this encrypted file, not a folder's vault" },
    purpose: { value: "<text>", about: "why, for the record of uses" },
    ...DIR,
    ...identityFlag,
  },
  about: [
    "Every use is recorded by name, time and purpose in delivery/logs/credentials.jsonl. To give a credential to a program, exec is safer.",
  ],
  examples: [["nutshell reveal staging-db --field password | pbcopy", "into the clipboard, not onto the screen"]],
  async run({ json, quiet, show, ...values }, io) {
    if (io.stdout.isTTY === true && show !== true) {
      throw new NutError("USAGE", "the value would stay on the screen; pipe it, or say --show", {
        hint: "nutshell exec --with <name> -- <command>",
      });
    }
    const input = reveal.input.parse(values);
    const { name, value } = await reveal.run(
      input,
      contextOf(io, json === true, progressLine(io, { program: "nutshell", quiet: quiet === true, color: false }).show),
    );
    if (json === true)
      io.stdout.write(`${JSON.stringify({ name, value: Buffer.from(value).toString("utf8") }, null, 2)}\n`);
    else if (io.stdout.isTTY === true)
      io.stdout.write(`${Buffer.from(value).toString("utf8").split("\n").map(printable).join("\n")}\n`);
    // A pipe gets the value and nothing else: not even a newline, which would become part of a password.
    else io.stdout.write(value);
    return 0;
  },
});
