import { resolve } from "node:path";
import { z } from "zod";
import { mergeContents, newBundleId, type OpenedContent } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { count, red } from "../../../cli/text.js";
import { openTarget } from "../../../request/open/target.js";
import { makeFolders } from "../../../request/pack/new-folder.js";

export default command({
  name: "merge",
  summary: "put parts back together",
  input: z.object({
    parts: positional(z.array(z.string().min(1)).min(1), { name: "part", about: "folders or .nut files" }),
    output: flag(z.string({ error: "say where the merged task goes: -o <dir>" }).min(1), {
      short: "o",
      value: "<dir>",
      about: "the folder to make",
    }),
    partial: flag(z.boolean().default(false), { about: "merge although some parts of the split are not given" }),
  }),
  output: z.object({
    path: z.string(),
    id: z.string(),
    files: z.int(),
    conflicts: z.array(z.object({ path: z.string(), message: z.string(), kept: z.array(z.string()) })),
  }),
  about: [
    "A change wins over an untouched copy. When two parts changed the same file differently, both versions are kept (the second as <file>.part-2) and reported. Deliveries are merged into one that claims no more than its weakest part.",
    "Exit status: 0 merged, 1 merged with conflicts, 2 could not.",
  ],
  examples: [["nutshell merge my-task-part-1 my-task-part-2 -o my-task-merged", "back together"]],
  async run({ parts, output, partial }, context) {
    const opened: OpenedContent[] = [];
    try {
      for (const part of parts) opened.push(await openTarget(part, context));
      const { manifest, files, conflicts } = await mergeContents(opened, { newId: newBundleId, partial });
      const target = resolve(context.cwd, output);
      await makeFolders([{ target, manifest, files }], context.signal);
      return {
        path: target,
        id: manifest.id,
        files: files.length + 1,
        conflicts: conflicts.map(({ kept, ...conflict }) => ({ ...conflict, kept: [...kept] })),
      };
    } finally {
      for (const content of opened) await content.close();
    }
  },
  text: ({ path, files, conflicts }) => [
    `Merged ${count(files, "file")} into ${path}`,
    ...(conflicts.length === 0 ? [] : [`${count(conflicts.length, "conflict")} to look at:`]),
    ...conflicts.map((each) => `  ${red("✗")} ${each.path}: ${each.message}${keptWords(each.kept)}`),
  ],
  exit: ({ conflicts }) => (conflicts.length === 0 ? 0 : 1),
});

const keptWords = (kept: readonly string[]) => (kept.length < 2 ? "" : `; kept as ${kept.join(" and ")}`);
