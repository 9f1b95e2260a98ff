import { extname } from "node:path";
import { z } from "zod";
import { LEVELS } from "../../../bundle/index.js";
import { operation } from "../../../operation.js";
import { packBundle } from "../../../request/pack-bundle.js";
import { COMPRESSIONS } from "../../../schema/manifest.js";

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

export const compress = operation({
  name: "bundle_compress",
  summary: "pack with a chosen effort and say where the bytes and tokens are",
  input: z.object({
    dir: z.string().default(".").describe("folder that holds nutshell.json"),
    output: z.string().optional().describe("file to write; by default named after the title"),
    compression: z.enum(COMPRESSIONS).default("gzip"),
    level: z.enum(LEVELS).default("best"),
    force: z.boolean().default(false).describe("pack although something is missing"),
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
  async run(input, context) {
    const packed = await packBundle(input, context);
    const kinds = new Map<string, { files: number; bytes: number }>();
    for (const { path, size } of packed.manifest.files?.tree ?? []) {
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
});
