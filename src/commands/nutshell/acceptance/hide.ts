import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { count, dim, green } from "../../../cli/text.js";
import { fromSystemError, NutError } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { hideChecks } from "../../../request/hidden/hide-checks.js";
import { folderTarget } from "../../../request/open/target.js";
import { collectKeys, ownRecipients } from "../../../request/vault/keys.js";
import { checkRecipient } from "../../../vault/index.js";
import { FOLDER_OR_DIR, namedFolder } from "../flags.js";

export default command({
  name: "hide",
  summary: "seal checks for whoever verifies, out of the worker's sight",
  input: z.object({
    ...FOLDER_OR_DIR,
    criteria: flag(z.array(z.string()).min(1, "hide needs --criteria <file>"), {
      short: "c",
      value: "<file>",
      about: "criteria to hide, as in tests/criteria.json",
    }),
    files: flag(z.array(z.string()).default([]), {
      name: "also",
      value: "<path>",
      about: "a file or folder of the request to seal with them",
    }),
    recipients: flag(z.array(z.string()).default([]), {
      name: "recipient",
      short: "r",
      value: "<age1…>",
      about: "who verifies (default: your own key)",
    }),
    recipientFiles: flag(z.array(z.string()).default([]), {
      name: "recipients-file",
      short: "R",
      value: "<file>",
      about: "recipients, one per line",
    }),
    replace: flag(z.boolean().default(false), { about: "take the place of what was hidden before" }),
  }),
  output: z.object({
    file: z.string(),
    count: z.int(),
    digest: z.string(),
    recipients: z.int(),
    sealed: z.array(z.string()).describe("files that were sealed with the criteria"),
    removed: z.array(z.string()).describe("clear files that were taken out of the folder"),
  }),
  about: [
    "The criteria and the scripts they name become acceptance/hidden.age, encrypted for the recipients; then the clear ones are deleted from the folder. Keep a copy elsewhere: only the recipients can read them again. A script is found by its path in the request, else beside the criteria; of a command, what it names under tests/ is taken, unless a visible check uses it too.",
    "Everybody sees that hidden checks exist, how many, and their digest. They run in `nutshell accept` and `nutshell verify --rerun` for whoever has a key (--identity), after all others and in rooms of their own. A delivery is not verified before they ran.",
  ],
  examples: [
    ["nutshell hide my-task --criteria hidden.json -r age1…", "for one who verifies"],
    ["nutshell hide my-task -c hidden.json --also tests/cases -R team.txt", "with a folder of cases, for a team"],
  ],
  async run({ criteria, files, recipients, recipientFiles, replace, ...named }, context) {
    const dir = folderTarget(namedFolder(named), context).path;
    const inFiles = recipientFiles.flatMap((file) => recipientsIn(file, context));
    const { sealed, removed, ...hidden } = await hideChecks(
      {
        dir,
        criteria: criteria.map((file) => resolve(context.cwd, file)),
        files,
        recipients: await whoMayOpen([...recipients, ...inFiles], context),
        replace,
      },
      context,
    );
    return { ...hidden, sealed: [...sealed], removed: [...removed] };
  },
  text: ({ file, count: checks, digest, recipients, sealed, removed }) => [
    `${green("✓")} ${count(checks, "check")} hidden in ${file}, for ${count(recipients, "key")}`,
    dim(`  ${digest}`),
    ...sealed.map((path) => dim(`  sealed: ${path}`)),
    ...removed.map((path) => dim(`  no longer in clear: ${path}`)),
  ],
});

async function whoMayOpen(named: readonly string[], context: Context): Promise<string[]> {
  const all = named.length > 0 ? named : await ownRecipients(collectKeys([], { ...context, ask: null }));
  if (all.length === 0) {
    throw new NutError("IDENTITY_MISSING", "nobody to hide the checks for: no recipient is named and no key is yours", {
      hint: "nutshell keygen, or name who verifies: --recipient '<age1…>'",
    });
  }
  return [...new Set(await Promise.all(all.map(checkRecipient)))];
}

/** As age's own -R: one recipient per line, comments with #. */
function recipientsIn(file: string, { cwd }: Context): string[] {
  try {
    const lines = readFileSync(resolve(cwd, file), "utf8").split(/\r?\n/);
    return lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  } catch (error) {
    throw fromSystemError(error, file) ?? error;
  }
}
