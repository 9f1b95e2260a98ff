import { z } from "zod";
import {
  contentFindings,
  formatManifest,
  type Manifest,
  parseManifest,
  readManifest,
  setField,
  writeManifest,
} from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { NutError } from "../../../errors.js";
import { folderTarget } from "../../../request/open/target.js";
import { dirWords } from "../../../request/vault/vault-folder.js";
import { DIR } from "../flags.js";

export default command({
  name: "set",
  summary: "change one field of the manifest",
  input: z.object({
    field: positional(z.string().min(1), { about: "dotted path, such as task.title" }),
    values: positional(z.array(z.string()).default([]), {
      name: "value",
      about: "one value; a list is a,b,c or several words",
    }),
    ...DIR,
    append: flag(z.boolean().default(false), { short: "a", about: "add to a list; commas are kept" }),
    unset: flag(z.boolean().default(false), { about: "remove the field" }),
  }),
  output: z.object({
    path: z.string(),
    changed: z.array(z.object({ field: z.string(), value: z.unknown() })),
  }),
  about: [
    "The schema decides what the words mean: numbers, true and false, choices, lists. Below extensions and tags.custom numbers and booleans are recognised, everything else is text. Fields it does not know stay as they are.",
    "Setting bundle_type to delivery gives a request a new id that points back to the old one.",
  ],
  examples: [
    ['nutshell set task.title "Build a REST API"', "in the current folder"],
    ["nutshell set tags.skills_required go,rest --dir my-task", "a list"],
    ['nutshell set acceptance.checklist "errors, if any, are logged" --append', "one more item, commas and all"],
    ["nutshell set extensions.clawnet.reward.amount 500", "a field of your own"],
    ["nutshell set bundle_type delivery", "a request becomes the delivery that answers it"],
  ],
  async run({ field, values, dir, append, unset }, context) {
    const { path } = folderTarget(dir, context);
    const manifest = readManifest(path);
    const before = await errorsOf(manifest);
    const fields = inFolder(dir, () => setField(manifest, field, values, { append, unset }));
    const [first] = (await errorsOf(manifest)).filter((message) => !before.includes(message));
    if (first !== undefined)
      throw new NutError("USAGE", first, { hint: "nutshell schema manifest shows every field", data: { field } });
    // What could not be read back is not written.
    parseManifest(formatManifest(manifest));
    writeManifest(path, manifest);
    return { path, changed: fields.map((name) => ({ field: name, value: unset ? null : fieldOf(manifest, name) })) };
  },
  text: ({ changed }) =>
    changed.map(({ field, value }) => `${field} = ${value === null ? "(removed)" : JSON.stringify(value)}`),
});

/** A command that a hint names is for the same folder. */
function inFolder<T>(dir: string | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof NutError) || !/^nutshell set \S+ /.test(error.hint)) throw error;
    const { code, message, hint, data } = error;
    throw new NutError(code, message, { hint: `${hint}${dirWords(dir)}`, data });
  }
}

/** What `validate` has against a manifest, its files aside. */
async function errorsOf(manifest: Manifest): Promise<readonly string[]> {
  const findings = await contentFindings({ manifest, files: null, read: async () => new Uint8Array() });
  return findings.filter(({ severity }) => severity === "error").map(({ message }) => message);
}

function fieldOf(manifest: unknown, field: string): unknown {
  const value = field
    .split(".")
    .reduce<unknown>((holder, key) => (holder as Record<string, unknown> | undefined)?.[key], manifest);
  return value ?? null;
}
