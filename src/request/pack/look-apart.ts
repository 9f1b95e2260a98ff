// Hashing and the leak scan on threads of their own, so that a large pack uses all cores. Files are dealt out to the threads, each
// to one; the bytes lie in memory that all threads see, so nothing is copied.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Looker, Piece } from "../../bundle/index.js";
import { threadProgram } from "../../process/thread-program.js";
import type { Leak, Secret } from "../../vault/index.js";
import type { FromThread, SharedPiece, ToThread } from "./look-thread.js";

const PROGRAM = "look.cjs";
/** Under this a thread takes longer to start than it spares. */
const APART_FROM_BYTES = 32 * 1024 ** 2;
const MAX_THREADS = 3;
/** How far the threads may be behind, in bytes of blocks. */
const MAX_BEHIND_BYTES = 6 * 1024 ** 2;

/** It keeps little; left alone it would let much more pile up before it collects. */
const SMALL = { maxYoungGenerationSizeMb: 6 };

export interface LookersApart extends Looker {
  /** Everything found by all threads, in no order; `last` is scanned too. Called once, after `hashes`. */
  leaks(last: { readonly path: string; readonly text: string } | null): Promise<readonly Leak[]>;
}

/** Threads that load their rules while whoever started them finds out what is to be packed. */
export interface LookThreads {
  readonly all: readonly Thread[];
  /** Ends the threads, whatever they are doing. */
  close(): Promise<void>;
}

export interface ApartOptions {
  readonly knownValues: readonly Secret[];
  /** Whether a file is scanned; all are hashed. */
  readonly isScanned: (path: string) => boolean;
}

/** How many threads so many bytes are worth; 0 for none. */
export function threadsFor(bytes: number, cores: number = availableParallelism()): number {
  if (bytes < APART_FROM_BYTES || cores < 2 || threadProgram(PROGRAM) === null) return 0;
  return Math.min(MAX_THREADS, Math.floor(cores / 2));
}

/** null for none. The caller closes them. */
export function startThreads(count: number): LookThreads | null {
  if (count === 0) return null;
  const all = Array.from({ length: count }, () => new Thread());
  const close = async () => {
    await Promise.all(all.map((each) => each.close()));
  };
  return { all, close };
}

export function lookApart({ all }: LookThreads, { knownValues, isScanned }: ApartOptions): LookersApart {
  for (const each of all) each.tell({ knownValues });
  let thread = all[0]!;
  let scanned = false;
  return {
    isApart: true,
    see(_block, piece) {
      if (piece.first) {
        thread = all.reduce((least, each) => (each.behindBytes < least.behindBytes ? each : least));
        scanned = isScanned(piece.path);
      }
      thread.add(piece, scanned);
    },
    async turn(block, release) {
      const busy = all.filter((each) => each.hasPieces);
      let holders = busy.length;
      if (holders === 0) release();
      for (const each of busy) {
        each.send(block.buffer as unknown as SharedArrayBuffer, () => {
          holders -= 1;
          if (holders === 0) release();
        });
      }
      await Promise.all(all.map((each) => each.catchUp(MAX_BEHIND_BYTES)));
    },
    async hashes() {
      await Promise.all(all.map((each) => each.catchUp(0)));
      const found: string[] = [];
      for (const { hashes } of all) for (const [file, digest] of hashes) found[file] = digest;
      return found;
    },
    async leaks(last) {
      const found = all.map((each, index) => each.leaks(index === 0 && last !== null ? [last] : []));
      return (await Promise.all(found)).flat();
    },
  };
}

interface Sent {
  readonly bytes: number;
  readonly done: () => void;
}

class Thread {
  readonly hashes: (readonly [file: number, digest: string])[] = [];
  /** Bytes of files that it was given and has not answered for. */
  behindBytes = 0;
  readonly #worker: Worker;
  #pieces: SharedPiece[] = [];
  #pieceBytes = 0;
  readonly #sent: Sent[] = [];
  #blockBytes = 0;
  #failure: Error | null = null;
  #wake: () => void = () => {};
  #leaks: readonly Leak[] | null = null;

  constructor() {
    // What this process was started with (loaders, profiles) is not the thread's.
    this.#worker = new Worker(threadProgram(PROGRAM)!, { execArgv: [], resourceLimits: SMALL });
    this.#worker.on("message", (message: FromThread) => this.#heard(message));
    this.#worker.on("error", (error: Error) => this.#failed(error));
    this.#worker.on("exit", () => this.#failed(new Error("the thread that looks at what is packed has ended")));
  }

  get hasPieces(): boolean {
    return this.#pieces.length > 0;
  }

  add(piece: Piece, scanned: boolean): void {
    this.#pieces.push({ ...piece, scanned });
    this.#pieceBytes += piece.length;
    this.behindBytes += piece.length;
  }

  send(block: SharedArrayBuffer, release: () => void): void {
    const bytes = this.#pieceBytes;
    this.#sent.push({
      bytes: block.byteLength,
      done: () => {
        this.behindBytes -= bytes;
        release();
      },
    });
    this.#blockBytes += block.byteLength;
    this.tell({ block, pieces: this.#pieces });
    this.#pieces = [];
    this.#pieceBytes = 0;
  }

  /** Resolves when no more than so many bytes of blocks are unanswered. */
  async catchUp(bytes: number): Promise<void> {
    await this.#until(() => this.#blockBytes <= bytes);
  }

  async leaks(last: readonly { readonly path: string; readonly text: string }[]): Promise<readonly Leak[]> {
    this.tell({ last });
    await this.#until(() => this.#leaks !== null);
    return this.#leaks!;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  tell(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  /** One waits at a time: packing goes on only when it is answered. */
  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== null) throw this.#failure;
  }

  #heard(message: FromThread): void {
    if ("leaks" in message) this.#leaks = message.leaks;
    else {
      for (const one of message.hashes) this.hashes.push(one);
      const { bytes, done } = this.#sent.shift()!;
      this.#blockBytes -= bytes;
      done();
    }
    this.#wake();
  }

  #failed(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}
