// A file of any size: one read holds 2 GiB at most, and a stream for every file takes five times as long.
import { closeSync, openSync, readSync } from "node:fs";

/** Its bytes in `piece`, which is filled again and again: each is good until the next is asked for. */
export function* readPieces(path: string, piece: Buffer): Generator<Buffer> {
  const file = openSync(path, "r");
  try {
    for (let got = readSync(file, piece); got > 0; got = readSync(file, piece)) yield piece.subarray(0, got);
  } finally {
    closeSync(file);
  }
}
