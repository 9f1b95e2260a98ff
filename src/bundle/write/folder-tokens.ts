import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { isText } from "../../files/index.js";
import type { Manifest } from "../../schema/manifest.js";
import { estimateTokens } from "../manifest/tokens.js";
import type { Listing } from "./list-folder.js";

/** Of a long file the beginning speaks for the rest. */
const SAMPLE_BYTES = 64 * 1024;
/** Past this much text no model holds it; a part taken evenly from all of it speaks for the rest. */
const COUNTED_BYTES = 1024 ** 2;

/** Estimated tokens of what an agent may read of a folder: its text, credentials and deliveries aside. Costs little. */
export function folderTokens(folder: string, manifest: Manifest, { entries }: Listing): number {
  const { files: _, completeness: __, compression: ___, ...author } = manifest;
  const buffer = Buffer.allocUnsafeSlow(SAMPLE_BYTES);
  const readable = entries.filter(({ path, size }) => size > 0 && !/^(?:credentials|delivery)\//.test(path));
  const total = readable.reduce((sum, { size }) => sum + Math.min(size, SAMPLE_BYTES), 0);
  const step = Math.max(1, Math.ceil(total / COUNTED_BYTES));
  let tokens = 0;
  let covered = 0;
  let all = 0;
  for (const [index, { path, size }] of readable.entries()) {
    all += size;
    if (index % step !== 0) continue;
    const sample = beginning(join(folder, path), buffer);
    covered += size;
    if (sample.length > 0 && isText(sample)) tokens += estimateTokens(sample) * (size / sample.length);
  }
  const whole = covered === 0 ? 0 : tokens * (all / covered);
  return Math.round(whole) + estimateTokens(JSON.stringify(author));
}

function beginning(path: string, buffer: Buffer): Buffer {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(file);
  }
}
