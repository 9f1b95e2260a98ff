import { resolve } from "node:path";
import { z } from "zod";
import { mergeContents, newBundleId, type OpenedContent } from "../../../bundle/index.js";
import { operation } from "../../../operation.js";
import { makeFolders } from "../../../request/new-folder.js";
import { openTarget } from "../../../request/target.js";

export const merge = operation({
  name: "bundle_merge",
  summary: "put parts back together",
  input: z.object({
    parts: z.array(z.string().min(1)).min(1),
    output: z.string({ error: "say where the merged task goes: -o <dir>" }).min(1),
    partial: z.boolean().default(false),
  }),
  output: z.object({
    path: z.string(),
    id: z.string(),
    files: z.int(),
    conflicts: z.array(z.object({ path: z.string(), message: z.string(), kept: z.array(z.string()) })),
  }),
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
});
