import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { assess, mechanicalFixes, type OpenedContent, writeManifest } from "../../../bundle/index.js";
import { NutError, shellWord } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { FindingOutput } from "../../../request/finding.js";
import { Folder, folderTarget, openTarget } from "../../../request/target.js";
import { COMPLETENESS } from "../../../schema/manifest.js";

export const check = operation({
  name: "bundle_check",
  summary: "tell what is missing, in the order to fix it",
  input: z.object({
    folder: Folder,
    fix: z.boolean().default(false),
    contextWindow: z.coerce.number().int().positive().optional(),
  }),
  output: z.object({
    status: z.enum(COMPLETENESS),
    missing: z.array(z.string()),
    warnings: z.array(z.string()),
    findings: z.array(FindingOutput),
    passed: z.array(z.object({ path: z.string(), message: z.string() })),
    fixed: z.array(z.string()),
  }),
  async run({ folder, fix, contextWindow }, context) {
    const { path, label } = folderTarget(folder, context);
    const source = folder === "-" ? "-" : path;
    const options = { now: context.now(), dir: label, contextWindow };
    const fixed = fix ? await repair(await openTarget(source, context)) : [];
    const content = await openTarget(source, context);
    try {
      const { status, missing, warnings, findings, passed } = await assess(content, options);
      return {
        status,
        missing: [...missing],
        warnings: [...warnings],
        findings: content.isFolder ? [...findings] : findings.map((each) => ({ ...each, fix: unpackFirst(folder) })),
        passed: [...passed],
        fixed: [...fixed],
      };
    } finally {
      await content.close();
    }
  },
});

/** A packed bundle is not edited: whatever it lacks, the first step is the same. */
function unpackFirst(bundle: string | undefined): string {
  if (bundle === undefined || bundle === "-") return "nutshell unpack - -o <dir>";
  return `nutshell unpack ${shellWord(bundle)} -o ${shellWord(basename(bundle).replace(/\.nut$/, ""))}`;
}

/** Does what needs no thought. New files first: a manifest must not point to what could not be written. */
async function repair(content: OpenedContent): Promise<readonly string[]> {
  try {
    if (!content.isFolder) {
      throw new NutError("USAGE", "--fix changes a folder, not a packed bundle", {
        hint: "nutshell unpack <file> -o <dir>",
      });
    }
    const { writes, isManifestChanged, done } = mechanicalFixes(content);
    for (const { path, text, append } of writes) {
      const target = join(content.path, path);
      mkdirSync(dirname(target), { recursive: true });
      if (append === true) appendFileSync(target, text);
      // Something that is there but not packed (ignored, a folder) is not ours to replace.
      else if (!existsSync(target)) writeFileSync(target, text, { flag: "wx" });
    }
    if (isManifestChanged) writeManifest(content.path, content.manifest);
    return done;
  } finally {
    await content.close();
  }
}
