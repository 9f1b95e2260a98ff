import { z } from "zod";
import { readManifest, setField, writeManifest } from "../../../bundle/index.js";
import { operation } from "../../../operation.js";
import { Folder, folderTarget } from "../../../request/target.js";

export const set = operation({
  name: "bundle_set",
  summary: "change one field of a manifest",
  input: z.object({
    field: z.string().min(1),
    values: z.array(z.string()).default([]),
    folder: Folder,
    append: z.boolean().default(false),
    unset: z.boolean().default(false),
  }),
  output: z.object({
    path: z.string(),
    changed: z.array(z.object({ field: z.string(), value: z.unknown() })),
  }),
  async run({ field, values, folder, append, unset }, context) {
    const { path } = folderTarget(folder, context);
    const manifest = readManifest(path);
    const fields = setField(manifest, field, values, { append, unset });
    writeManifest(path, manifest);
    return { path, changed: fields.map((name) => ({ field: name, value: fieldOf(manifest, name) })) };
  },
});

function fieldOf(manifest: unknown, field: string): unknown {
  const value = field
    .split(".")
    .reduce<unknown>((holder, key) => (holder as Record<string, unknown> | undefined)?.[key], manifest);
  return value ?? null;
}
