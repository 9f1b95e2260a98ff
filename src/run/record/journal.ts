// What happened in a run, one line each, on disk before the next thing happens. The journal is the truth about a run:
// everything else in its folder can be rebuilt from it, and a killed run goes on from its last line.
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from "node:fs";
import { atomicWrite } from "../../files/index.js";
import { JournalRecord } from "../../schema/journal.js";
import { RUN_VERSION } from "../../schema/run.js";
import { assertFile } from "./damaged-file.js";
import { JournalReader, lineOf } from "./journal-reader.js";
import { misplaced } from "./record-order.js";
import { applyRecord, emptyState, type RunState } from "./run-state.js";

/**
 * Steps that come out the same when they are done again from the records before them; they reach the disk with the next
 * record that does not. The journal stays a prefix of what happened, so nothing can be there out of order.
 */
const REPEATABLE: ReadonlySet<JournalRecord["type"]> = new Set<JournalRecord["type"]>([
  "created",
  "opened",
  "agent_started",
  "agent_session",
  "credential_used",
  "issue",
  "merging",
  "merged",
  "task_completed",
  "task_failed",
  "checkpoint",
]);

/** The journal open for writing. Whoever opens it holds the run's lock. */
export class Journal {
  readonly #file: number;
  #sum: string;
  /** The run as everything in the journal tells it. */
  readonly state: RunState;

  /** Throws RUN_DAMAGED or RUN_NEWER, and then nothing was written. */
  constructor(path: string) {
    const { records, reader, whole } = readWhole(path);
    this.state = reader.state;
    this.#sum = reader.sum;
    const old = records.length > 0 && reader.version < RUN_VERSION;
    const length = old ? this.#rewrite(path, records) : whole;
    this.#file = openSync(path, "a+", 0o600);
    // A line cut by a crash was never acknowledged to anyone; what follows must start on a line of its own.
    ftruncateSync(this.#file, length);
  }

  /**
   * Writes a record, then folds it into the state. A killed process loses nothing; a power cut nothing that somebody paid
   * or answered for.
   */
  append(record: JournalRecord): void {
    // What could not be read again must not get in.
    const { line, sum } = lineOf(JournalRecord.parse(record), this.#sum);
    const wrong = misplaced(this.state, record);
    if (wrong !== null) throw new Error(`${record.type} cannot be recorded now: ${wrong}`);
    const bytes = Buffer.from(line, "utf8");
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#sum = sum;
    if (!REPEATABLE.has(record.type)) fdatasyncSync(this.#file);
    applyRecord(this.state, record);
  }

  close(): void {
    closeSync(this.#file);
  }

  /** One file holds lines of one version only. */
  #rewrite(path: string, records: readonly JournalRecord[]): number {
    let text = "";
    for (const record of records) {
      const { line, sum } = lineOf(record, this.#sum);
      text += line;
      this.#sum = sum;
    }
    atomicWrite(path, text, { mode: 0o600 });
    return Buffer.byteLength(text);
  }
}

/** Every record so far. Throws RUN_DAMAGED or RUN_NEWER. */
export function readJournal(path: string): readonly JournalRecord[] {
  return readWhole(path).records;
}

/** Nothing yet is an empty journal; a last line without its end is no line. */
function readWhole(path: string) {
  assertFile(path);
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const whole = bytes.lastIndexOf(0x0a) + 1;
  const reader = new JournalReader(path);
  return { records: linesIn(bytes.subarray(0, whole)).map((line) => reader.read(line)), reader, whole };
}

const linesIn = (bytes: Buffer): string[] => bytes.toString("utf8").split("\n").slice(0, -1);

/** A journal somebody else writes: each look reads what was added since the last. */
export class JournalFollower {
  readonly #path: string;
  #reader: JournalReader;
  #read = 0;
  #inode = 0;
  readonly #hear: (record: JournalRecord | null) => void;

  /** `hear` is told every record once, in order; null when it begins anew. */
  constructor(path: string, hear: (record: JournalRecord | null) => void = () => {}) {
    this.#path = path;
    this.#hear = hear;
    this.#reader = new JournalReader(path);
  }

  /** Throws RUN_DAMAGED or RUN_NEWER. */
  look(): RunState {
    if (!existsSync(this.#path)) return emptyState();
    assertFile(this.#path);
    const file = openSync(this.#path, "r");
    try {
      const { ino, size } = fstatSync(file);
      if (ino !== this.#inode || size < this.#read) this.#startOver(ino);
      const buffer = Buffer.alloc(size - this.#read);
      const bytes = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, this.#read));
      const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
      this.#read += whole.length;
      for (const line of linesIn(whole)) this.#hear(this.#reader.read(line));
    } catch (error) {
      this.#startOver(0);
      throw error;
    } finally {
      closeSync(file);
    }
    return this.#reader.state;
  }

  #startOver(inode: number): void {
    this.#hear(null);
    this.#reader = new JournalReader(this.#path);
    this.#read = 0;
    this.#inode = inode;
  }
}
