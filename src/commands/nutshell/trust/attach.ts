import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { count, dim, green } from "../../../cli/text.js";
import { fromSystemError, NutError, shellWord } from "../../../errors.js";
import { addSignatures } from "../../../request/signatures/signatures.js";
import { MAX_LIST_BYTES, parseEnvelopes, type Signatures, signatureLines } from "../../../statements/index.js";

export default command({
  name: "attach",
  summary: "add signatures that were made elsewhere",
  input: z.object({
    bundle: positional(z.string(), { about: "a .nut file, or a folder" }),
    signatures: positional(z.string(), { about: "a Sigstore bundle, or a list such as x.nut.sigs" }),
    sidecar: flag(z.boolean().default(false), { about: "put them beside it, into <bundle>.sigs" }),
  }),
  output: z.object({ path: z.string(), written: z.string().describe("where they lie"), signatures: z.int() }),
  about: [
    "They are added as they are; what they are worth is said by inspect and verify. Adding one changes no content digest.",
  ],
  examples: [
    ["nutshell attach task.nut task.sigstore.json", "then: nutshell verify --sigstore-root"],
    ["nutshell attach task.nut old/task.nut.sigs", "what lay beside another copy"],
  ],
  async run({ bundle, signatures: file, sidecar }, context) {
    const path = resolve(context.cwd, bundle);
    const added = readList(resolve(context.cwd, file), file);
    if (statSync(path, { throwIfNoEntry: false }) === undefined) {
      throw new NutError("FILE_NOT_FOUND", `${path}: no such file or folder`, { data: { path } });
    }
    const written = await addSignatures(path, added, { sidecar }, context);
    return { path, written, signatures: signatureLines(added).length };
  },
  text: ({ written, signatures }) => [`${green("✓")} ${count(signatures, "signature")} added`, dim(`  in ${written}`)],
});

/** A list of lines, or one document over several. Throws for what holds anything else: nothing is added in part. */
function readList(path: string, typed: string): Signatures {
  const refuse = (why: string) =>
    new NutError("SIGNATURE_UNFIT", `${path}: ${why}`, {
      hint: `head -c 300 ${shellWord(typed)} (a DSSE envelope or Sigstore bundle per line, or one alone)`,
      data: { path },
    });
  let text: string;
  try {
    if (statSync(path).size > MAX_LIST_BYTES) throw refuse("the list of signatures is too large");
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  const list = parseEnvelopes(Buffer.from(asLines(text)));
  if (list.rejected.length > 0) throw refuse(list.rejected[0]!.why);
  if (signatureLines(list).length === 0) throw refuse("no signature is in it");
  return list;
}

/** Sigstore's tools write one document, sometimes over several lines: outside its texts JSON needs no line ends. */
function asLines(text: string): string {
  const isOne = text.trimStart().startsWith("{") && /^\s*\{\s*\n/.test(text);
  return isOne ? text.replace(/\s*\n\s*/g, " ") : text;
}
