import { extname } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { bold, count, dim, size, table } from "../../../cli/text.js";
import { packBundle } from "../../../request/pack/pack-bundle.js";
import { DIR_OR_OUTPUT, dirAndOutput, GUARD_FLAGS, levelFlags } from "../pack-flags.js";

const KINDS: Readonly<Record<string, readonly string[]>> = {
  text: [".md", ".txt", ".rst", ".adoc", ".log", ".tex", ".org"],
  data: [".json", ".yaml", ".yml", ".toml", ".xml", ".csv", ".tsv", ".jsonl", ".sql", ".ini", ".lock"],
  // Compressed already: packing them harder gains nothing.
  media: [".png", ".jpg", ".jpeg", ".gif", ".webp", ".mp4", ".mp3", ".pdf", ".zip", ".gz", ".zst", ".woff2", ".nut"],
};

export function kindOf(path: string): string {
  const extension = extname(path).toLowerCase();
  return Object.entries(KINDS).find(([, extensions]) => extensions.includes(extension))?.[0] ?? "code";
}

export default command({
  name: "compress",
  summary: "pack with a chosen effort and say where the bytes are",
  input: z.object({
    ...DIR_OR_OUTPUT,
    ...levelFlags("best"),
    force: flag(z.boolean().default(false), { about: "pack although something is missing" }),
    ...GUARD_FLAGS,
  }),
  output: z.object({
    path: z.string(),
    files: z.int(),
    original_bytes: z.int(),
    bytes: z.int(),
    ratio: z.number().describe("bytes of the bundle per byte of content"),
    hash: z.string(),
    content_digest: z.string(),
    context_tokens: z.int().describe("an estimate of what manifest and context/ cost a model"),
    kinds: z.array(z.object({ kind: z.string(), files: z.int(), bytes: z.int() })),
  }),
  examples: [["nutshell compress --dir my-task -o my-task.nut --level best", "as small as gzip gets"]],
  async run(input, context) {
    const packed = await packBundle(dirAndOutput(input), context);
    const tree = packed.manifest.files?.tree ?? [];
    // Not in the tree, and counted with it: the kinds add up to what was packed.
    const manifestBytes = packed.originalBytes - tree.reduce((sum, { size }) => sum + size, 0);
    const kinds = new Map([["manifest", { files: packed.files - tree.length, bytes: manifestBytes }]]);
    for (const { path, size } of tree) {
      const sum = kinds.get(kindOf(path)) ?? { files: 0, bytes: 0 };
      kinds.set(kindOf(path), { files: sum.files + 1, bytes: sum.bytes + size });
    }
    return {
      path: packed.path,
      files: packed.files,
      original_bytes: packed.originalBytes,
      bytes: packed.bytes,
      ratio: packed.originalBytes === 0 ? 1 : packed.bytes / packed.originalBytes,
      hash: packed.hash,
      content_digest: packed.contentDigest,
      context_tokens: packed.manifest.compression?.context_tokens_estimate ?? 0,
      kinds: [...kinds].map(([kind, sum]) => ({ kind, ...sum })).sort((a, b) => b.bytes - a.bytes),
    };
  },
  text: (result) => [
    `${bold("Packed")} ${count(result.files, "file")} into ${result.path}`,
    ...table([
      ["  Size:", `${size(result.bytes)} ${dim(`(${size(result.original_bytes)} before, ${percent(result.ratio)})`)}`],
      ["  Context:", `about ${count(result.context_tokens, "token")} ${dim("(estimate)")}`],
      ["  Hash:", result.hash],
      ["  Content:", result.content_digest],
    ]),
    ...table(result.kinds.map(({ kind, files, bytes }) => [`  ${kind}`, count(files, "file"), dim(size(bytes))])),
  ],
});

const percent = (ratio: number) => `${(ratio * 100).toFixed(1)} %`;
