// Compressed bytes, pulled in pieces, with what was read too far put back.
import { closeSync, constants, fstatSync, openSync, read } from "node:fs";
import type { Readable } from "node:stream";
import { fromSystemError, NutError, shellWord } from "../../errors.js";

const PIECE = 256 * 1024;

export interface ByteInput {
  /** The next piece, never empty; null at the end. */
  next(): Promise<Buffer | null>;
  /** Puts back the end of the last piece. */
  unread(bytes: Buffer): void;
  close(): Promise<void>;
  /** From now on a piece is good until two more were asked for: memory that is used again costs no collecting of garbage. */
  useMemoryAgain(): void;
  /** Bytes handed out so far, what was put back aside. */
  readonly consumed: number;
  /** The file it comes from; null for a stream. */
  readonly path: string | null;
}

class Input implements ByteInput {
  consumed = 0;
  private readonly back: Buffer[] = [];
  private readonly pull: (memory: Buffer | null) => Promise<Buffer | null>;
  private readonly shut: () => Promise<void>;
  private memory: Buffer[] = [];

  readonly path: string | null;

  constructor(
    pull: (memory: Buffer | null) => Promise<Buffer | null>,
    shut: () => Promise<void>,
    path: string | null = null,
  ) {
    this.pull = pull;
    this.shut = shut;
    this.path = path;
  }

  async next(): Promise<Buffer | null> {
    const piece = this.back.pop() ?? (await this.pull(this.takeTurns()));
    if (piece !== null) this.consumed += piece.length;
    return piece;
  }

  unread(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.consumed -= bytes.length;
    this.back.push(bytes);
  }

  useMemoryAgain(): void {
    if (this.memory.length === 0) this.memory = [Buffer.allocUnsafeSlow(PIECE), Buffer.allocUnsafeSlow(PIECE)];
  }

  private takeTurns(): Buffer | null {
    const next = this.memory.shift();
    if (next !== undefined) this.memory.push(next);
    return next ?? null;
  }

  close(): Promise<void> {
    return this.shut();
  }
}

export interface FileInputOptions {
  /** Size of the first piece: small when only the beginning is wanted. */
  readonly firstPiece?: number;
}

/** Reads a regular file. Anything else (a folder, a pipe) is refused, so that nothing hangs. */
export function fileInput(path: string, options: FileInputOptions = {}): ByteInput {
  const file = openRegular(path);
  let at = 0;
  let piece = options.firstPiece ?? PIECE;
  let closed = false;
  const pull = (memory: Buffer | null) =>
    new Promise<Buffer | null>((resolve, reject) => {
      const buffer = memory?.subarray(0, piece) ?? Buffer.allocUnsafeSlow(piece);
      piece = Math.min(PIECE, piece * 4);
      read(file, buffer, 0, buffer.length, at, (error, length) => {
        if (error !== null) return reject(fromSystemError(error, path) ?? error);
        at += length;
        resolve(length === 0 ? null : buffer.subarray(0, length));
      });
    });
  const shut = async () => {
    if (!closed) closeSync(file);
    closed = true;
  };
  return new Input(pull, shut, path);
}

/** Opens a regular file, and nothing that could make a reader wait. */
export function openRegular(path: string): number {
  let file: number;
  try {
    // Without O_NONBLOCK a named pipe would wait for a writer for ever. Windows has neither.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  const stats = fstatSync(file);
  if (stats.isFile()) return file;
  closeSync(file);
  throw new NutError("FILE_UNREADABLE", `${path}: ${stats.isDirectory() ? "is a folder" : "not a regular file"}`, {
    hint: stats.isDirectory() ? `nutshell pack --dir ${shellWord(path)}` : `ls -ld ${shellWord(path)}`,
    data: { path },
  });
}

/** Reads a stream, once. */
export function streamInput(stream: Readable): ByteInput {
  const pieces = stream[Symbol.asyncIterator]();
  const pull = async (): Promise<Buffer | null> => {
    for (;;) {
      const { value, done } = await pieces.next();
      if (done) return null;
      const piece = Buffer.isBuffer(value) ? value : Buffer.from(value as string | Uint8Array);
      if (piece.length > 0) return piece;
    }
  };
  return new Input(pull, async () => {
    stream.destroy();
  });
}

/** Takes exactly `length` bytes, or fewer at the end. */
export async function take(input: ByteInput, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let have = 0;
  while (have < length) {
    const piece = await input.next();
    if (piece === null) break;
    const wanted = length - have;
    parts.push(piece.subarray(0, wanted));
    have += Math.min(piece.length, wanted);
    input.unread(piece.subarray(wanted));
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
