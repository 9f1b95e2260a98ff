// A part of a file in pieces. Memory that is used again costs a large bundle no collecting of garbage.
import { type FileHandle, open } from "node:fs/promises";
import { NutError } from "../errors.js";

export interface FilePart {
  readonly path: string;
  readonly start: number;
  /** The first byte that is not wanted. */
  readonly end: number;
}

const PIECE = 1024 * 1024;

/** The bytes as they come; a piece is good until the next one is asked for. Throws SOURCE_CHANGED where the file ends before. */
export async function* pieces({ path, start, end }: FilePart): AsyncGenerator<Buffer> {
  const file = await open(path, "r");
  try {
    // One is read while the other is worked on.
    const memory = [Buffer.allocUnsafeSlow(PIECE), Buffer.allocUnsafeSlow(PIECE)] as const;
    let next = readPiece(file, memory[0], path, start, end);
    for (let at = start, turn = 1; at < end; turn += 1) {
      const piece = await next;
      at += piece.length;
      if (at < end) next = readPiece(file, memory[(turn % 2) as 0 | 1], path, at, end);
      next.catch(() => {});
      yield piece;
    }
  } finally {
    await file.close();
  }
}

async function readPiece(file: FileHandle, memory: Buffer, path: string, at: number, end: number): Promise<Buffer> {
  const { bytesRead } = await file.read(memory, 0, Math.min(memory.length, end - at), at);
  if (bytesRead > 0) return memory.subarray(0, bytesRead);
  throw new NutError("SOURCE_CHANGED", `${path} became shorter`, { hint: "run the command again", data: { path } });
}
