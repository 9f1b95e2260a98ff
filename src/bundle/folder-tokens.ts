import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../schema/manifest.js";
import type { Listing } from "./list-folder.js";
import { estimateTokens, isText } from "./tokens.js";

/** Of a long file the beginning speaks for the rest. */
const SAMPLE_BYTES = 64 * 1024;
/** Past this much text no model holds it; what was counted speaks for the remainder. */
const COUNTED_BYTES = 4 * 1024 ** 2;

/** Estimated tokens of what an agent may read of a folder: its text, credentials and deliveries aside. Costs little. */
export function folderTokens(folder: string, manifest: Manifest, { entries }: Listing): number {
  const { files: _, completeness: __, compression: ___, ...author } = manifest;
  const buffer = Buffer.allocUnsafeSlow(SAMPLE_BYTES);
  const readable = entries.filter(({ path, size }) => size > 0 && !/^(?:credentials|delivery)\//.test(path));
  let sampled = 0;
  let tokens = 0;
  let covered = 0;
  let beyond = 0;
  for (const { path, size } of readable) {
    if (sampled >= COUNTED_BYTES) {
      beyond += size;
      continue;
    }
    const sample = beginning(join(folder, path), buffer);
    sampled += sample.length;
    covered += size;
    if (sample.length > 0 && isText(sample)) tokens += estimateTokens(sample) * (size / sample.length);
  }
  const rest = covered === 0 ? 0 : tokens * (beyond / covered);
  return Math.round(tokens + rest) + estimateTokens(JSON.stringify(author));
}

function beginning(path: string, buffer: Buffer): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(file);
  }
}
