// Writing on a thread of its own: making many files takes as long as all the rest of unpacking them.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { threadProgram } from "../../process/thread-program.js";
import { type FileWriter, WriteFailure } from "./file-writer.js";
import type { Batch, BatchAnswer, BatchFailure, Step, WriteThreadData } from "./write-thread.js";

const PROGRAM = "write.cjs";
const BLOCK_BYTES = 512 * 1024;
/** Names take memory too: a block of empty files has an end. */
const MAX_STEPS = 1000;
/** How far the thread may be behind. */
const MAX_BEHIND = 16;

/** It keeps little; left alone it would let much more pile up before it collects. */
const SMALL = { maxYoungGenerationSizeMb: 4 };

/** Whether there is a second core to write on, and a program to do it. */
export function canWriteApart(): boolean {
  return availableParallelism() > 1 && threadProgram(PROGRAM) !== null;
}

/** Writes below `root`, later and in order. Whoever unpacks awaits `turn` now and then, and `finish` before it believes. */
export class FilesApart implements FileWriter {
  readonly #worker: Worker;
  #block = new SharedArrayBuffer(BLOCK_BYTES);
  #bytes = new Uint8Array(this.#block);
  #used = 0;
  #steps: Step[] = [];
  #path: string | null = null;
  #executable = false;
  #pieceStart = 0;
  readonly #free: SharedArrayBuffer[] = [];
  readonly #sent: SharedArrayBuffer[] = [];
  #failure: Error | null = null;
  #wake: () => void = () => {};

  constructor(root: string) {
    const workerData: WriteThreadData = { root };
    // What this process was started with (loaders, profiles) is not the thread's.
    this.#worker = new Worker(threadProgram(PROGRAM)!, { workerData, execArgv: [], resourceLimits: SMALL });
    this.#worker.on("message", (answer: BatchAnswer) => this.#heard(answer));
    this.#worker.on("error", (error: Error) => this.#failed(error));
    this.#worker.on("exit", () => this.#failed(new Error("the thread that writes what is unpacked has ended")));
  }

  folder(path: string): void {
    this.#steps.push({ folder: path });
  }

  begin(path: string, executable: boolean): void {
    this.#path = path;
    this.#executable = executable;
    this.#pieceStart = this.#used;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const taken = Math.min(bytes.length - at, BLOCK_BYTES - this.#used);
      this.#bytes.set(taken === bytes.length ? bytes : bytes.subarray(at, at + taken), this.#used);
      this.#used += taken;
      at += taken;
      if (this.#used === BLOCK_BYTES) this.#piece(false);
    }
  }

  end(): void {
    this.#piece(true);
  }

  /** Resolves when the thread is not too far behind. Throws what kept it from writing. */
  async turn(): Promise<void> {
    await this.#until(MAX_BEHIND);
  }

  /** Resolves when everything is written. */
  async finish(): Promise<void> {
    if (this.#steps.length > 0) this.#send();
    await this.#until(0);
  }

  /** Ends the thread, whatever it is doing. */
  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #piece(ends: boolean): void {
    this.#steps.push({
      path: this.#path,
      executable: this.#executable,
      bytes: this.#used - this.#pieceStart,
      ends,
    });
    this.#path = null;
    this.#pieceStart = this.#used;
    if (this.#used === BLOCK_BYTES || this.#steps.length >= MAX_STEPS) this.#send();
  }

  #send(): void {
    const batch: Batch = { block: this.#block, steps: this.#steps };
    this.#worker.postMessage(batch);
    this.#sent.push(this.#block);
    this.#block = this.#free.pop() ?? new SharedArrayBuffer(BLOCK_BYTES);
    this.#bytes = new Uint8Array(this.#block);
    this.#steps = [];
    this.#used = 0;
    this.#pieceStart = 0;
  }

  /** Resolves when no more than so many blocks are unanswered. One waits at a time. */
  async #until(unanswered: number): Promise<void> {
    while (this.#failure === null && this.#sent.length > unanswered) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== null) throw this.#failure;
  }

  #heard(answer: BatchAnswer): void {
    if (answer === null) this.#free.push(this.#sent.shift()!);
    else this.#failure ??= failureOf(answer);
    this.#wake();
  }

  #failed(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }
}

function failureOf({ path, message, parts }: BatchFailure): WriteFailure {
  return new WriteFailure(path, Object.assign(new Error(message), parts));
}
