// A thread that writes what is unpacked: a program of its own, started by write-apart.ts. The bytes lie in memory that both threads see,
// and it answers block by block, in order.
import { parentPort, workerData } from "node:worker_threads";
import { FilesHere, WriteFailure } from "./file-writer.js";

/** A block of bytes and what becomes of them, one step after the other. */
export interface Batch {
  readonly block: SharedArrayBuffer;
  readonly steps: readonly Step[];
}

export type Step = FolderStep | FileStep;

export interface FolderStep {
  readonly folder: string;
}

/** The next bytes of the block are a file's, or a piece of one. */
export interface FileStep {
  /** null goes on with the file of the step before. */
  readonly path: string | null;
  readonly executable: boolean;
  readonly bytes: number;
  /** Whether the file ends with them. */
  readonly ends: boolean;
}

export interface WriteThreadData {
  readonly root: string;
}

/** What it answers to a batch: null when all was done. After a failure it does nothing more. */
export type BatchAnswer = BatchFailure | null;

/** The system's error in parts: what is sent to another thread keeps an error's message alone. */
export interface BatchFailure {
  readonly path: string;
  readonly message: string;
  readonly parts: Readonly<Record<string, unknown>>;
}

const writer = new FilesHere((workerData as WriteThreadData).root);

function write({ block, steps }: Batch): void {
  const bytes = new Uint8Array(block);
  let at = 0;
  for (const step of steps) {
    if ("folder" in step) {
      writer.folder(step.folder);
      continue;
    }
    if (step.path !== null) writer.begin(step.path, step.executable);
    if (step.bytes > 0) writer.write(bytes.subarray(at, at + step.bytes));
    at += step.bytes;
    if (step.ends) writer.end();
  }
}

function answerTo(batch: Batch): BatchAnswer {
  try {
    write(batch);
    return null;
  } catch (error) {
    if (!(error instanceof WriteFailure)) throw error;
    const cause = error.cause as NodeJS.ErrnoException;
    return { path: error.path, message: cause.message, parts: { ...cause } };
  }
}

let failed = false;
parentPort!.on("message", (batch: Batch) => {
  if (failed) return;
  const answer = answerTo(batch);
  failed = answer !== null;
  parentPort!.postMessage(answer);
});
