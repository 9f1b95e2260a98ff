// The size and sum of what an entry holds.
import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";

export interface Hashed {
  readonly size: number;
  readonly hash: string;
}

export const NOTHING: Hashed = { size: 0, hash: "" };

/** Larger files are read piece by piece: memory has an end, and Node reads at most 2 GiB at once. */
const AT_ONCE = 64 * 1024 * 1024;
const PIECE = 1024 * 1024;

export function hashBytes(bytes: Uint8Array): Hashed {
  return { size: bytes.length, hash: createHash("sha256").update(bytes).digest("hex") };
}

export function hashFile(path: string | Buffer, size: bigint): Hashed {
  return size > AT_ONCE ? hashInPieces(path) : hashBytes(readFileSync(path));
}

function hashInPieces(path: string | Buffer): Hashed {
  const sum = createHash("sha256");
  const piece = Buffer.alloc(PIECE);
  const file = openSync(path, "r");
  try {
    let size = 0;
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
      sum.update(piece.subarray(0, read));
      size += read;
    }
    return { size, hash: sum.digest("hex") };
  } finally {
    closeSync(file);
  }
}
