// Changes of one document that are agreed on and not yet written into it, one per line behind a head of fixed size. Written
// only under the writers' lock, but for the head's first bytes, which say how much is on the disk and are the settler's;
// the head may be read without a lock. The file is never synced and never trusted after a power cut: nobody was answered
// for what is only here, and whatever does not add up is dropped.
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";

/** One change of a document's list, and what changed beside the list. */
export interface LedgerEntry {
  readonly item: unknown;
  /** The place of the item it replaces; absent when the item is added at the end. */
  readonly at?: number;
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface Head {
  /** Made with the file: numbers of another ledger mean nothing here. */
  readonly id: string;
  /** Goes up when lines were dropped: whoever followed them starts again from the document. */
  readonly serial: number;
  /** The document that the entries after `placed` build on. */
  readonly base: string;
  /** Where the valid lines end, in bytes. */
  readonly end: number;
  /** Entries are numbered; the last one, the last one the document holds, and the last one it holds on the disk. */
  readonly last: number;
  readonly placed: number;
  readonly durable: number;
  /** Written before a rename, so that whoever finds the document changed knows by what. */
  readonly placing: { readonly number: number; readonly file: string } | null;
  /** Entries that never took effect: whoever waits for one of them asks again. */
  readonly voids: readonly (readonly [first: number, last: number])[];
}

const HEAD_BYTES = 2048;
const PROGRESS_BYTES = 64;
const MAX_LOOKS = 1_000;
/** Whoever was stopped while this many groups were dropped has long been told that it waited too long. */
const MAX_VOIDS = 16;
/** Kept lines spare other processes reading the document again; beyond this they cost more than they spare. */
const MAX_BYTES = 4 * 1024 * 1024;

export class LedgerBroken extends Error {}

export class LedgerFile {
  readonly #fd: number;

  /** Never kept open for long: the folder may be deleted and made again at any time. */
  static open(path: string): LedgerFile {
    return new LedgerFile(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o644));
  }

  static use<T>(path: string, work: (file: LedgerFile) => T): T {
    const file = LedgerFile.open(path);
    try {
      return work(file);
    } finally {
      file.close();
    }
  }

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** null for a file that is new or none of ours, and when it was read without the lock while it was being written. */
  head(): Head | null {
    // In this order: dropping writes what never happened first, and only then that everything else did.
    const durable = this.#durable();
    const text = writtenTwice(this.#read(PROGRESS_BYTES, HEAD_BYTES - PROGRESS_BYTES));
    try {
      const head: unknown = text === null ? null : JSON.parse(text);
      return isHead(head) ? { ...head, durable } : null;
    } catch {
      return null;
    }
  }

  /** The settler may be writing it, lock or no lock. What stays torn claims nothing. */
  #durable(): number {
    for (let tries = 0; tries < MAX_LOOKS; tries += 1) {
      const text = writtenTwice(this.#read(0, PROGRESS_BYTES));
      if (text !== null) return Number.parseInt(text, 10) || 0;
    }
    return 0;
  }

  /** Within one page, written at once: a process that is killed leaves the old head or the new one. */
  writeHead(head: Head): Head {
    const { durable: _, ...rest } = head;
    this.#write(twice(JSON.stringify(rest), HEAD_BYTES - PROGRESS_BYTES), PROGRESS_BYTES);
    return head;
  }

  /** What waiters look at: it changes when something came to the disk, or was dropped. */
  progress(): string {
    return this.#read(0, PROGRESS_BYTES).toString("latin1");
  }

  writeDurable(head: Head, durable: number): Head {
    this.#write(twice(JSON.stringify(durable), PROGRESS_BYTES), 0);
    return { ...head, durable };
  }

  /** The entries from a byte on, with their numbers. Throws LedgerBroken for lines that cannot be what was written. */
  entries({ end }: Head, from = HEAD_BYTES): [number: number, entry: LedgerEntry][] {
    // The ledger was put back to an older state behind our back, or its head is not what was written.
    if (end < from || end > fstatSync(this.#fd).size) throw new LedgerBroken("the head does not fit its lines");
    const lines = this.#read(from, end - from)
      .toString("utf8")
      .split("\n");
    if (lines.pop() !== "") throw new LedgerBroken("the last line is torn");
    try {
      return lines.map((line) => JSON.parse(line));
    } catch (error) {
      throw new LedgerBroken("a line is not JSON", { cause: error });
    }
  }

  append(head: Head, entry: LedgerEntry): Head {
    const last = head.last + 1;
    const line = Buffer.from(`${JSON.stringify([last, entry])}\n`);
    this.#write(line, head.end);
    return this.writeHead({ ...head, last, end: head.end + line.length });
  }

  /** Forgets every line; what was not placed never happened. `base` is the document as it is. */
  drop(head: Head, base: string): Head {
    const { last, placed, voids } = head;
    const more = last > placed ? [...voids, [placed + 1, last] as const].slice(-MAX_VOIDS) : voids;
    const next = { ...head, serial: head.serial + 1, base, end: HEAD_BYTES, placing: null, voids: more };
    const written = this.writeHead({ ...next, placed: last });
    ftruncateSync(this.#fd, HEAD_BYTES);
    return this.writeDurable(written, last);
  }

  create(base: string): Head {
    const id = randomBytes(8).toString("hex");
    const none = { serial: 0, last: 0, placed: 0, durable: 0, placing: null, voids: [] };
    return this.writeDurable(this.writeHead({ id, base, end: HEAD_BYTES, ...none }), 0);
  }

  close(): void {
    closeSync(this.#fd);
  }

  changedMs(): number {
    return fstatSync(this.#fd).mtimeMs;
  }

  #read(from: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let at = 0;
    for (let got = -1; at < length && got !== 0; at += got) got = readSync(this.#fd, bytes, at, length - at, from + at);
    return bytes.subarray(0, at);
  }

  #write(bytes: Uint8Array, position: number): void {
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(this.#fd, bytes, at, bytes.length - at, position + at);
    }
  }
}

/** What is read of a head has the shape of one; a schema library would cost the gate its start. */
function isHead(value: unknown): value is Omit<Head, "durable"> {
  const { id, serial, base, end, last, placed, placing, voids } = (value ?? {}) as Record<string, unknown>;
  const isPlacing = placing === null || typeof (placing as Head["placing"])?.number === "number";
  return (
    [id, base].every((text) => typeof text === "string") &&
    [serial, end, last, placed].every((each) => Number.isSafeInteger(each) && (each as number) >= 0) &&
    isPlacing &&
    Array.isArray(voids) &&
    voids.every(Array.isArray)
  );
}

/** Whoever reads while another writes sees two texts that differ, and looks again. */
function twice(text: string, length: number): Buffer {
  const bytes = Buffer.from(`${text}\n${text}\n`.padEnd(length), "latin1");
  if (bytes.length > length) throw new LedgerBroken("the head does not fit");
  return bytes;
}

function writtenTwice(bytes: Buffer): string | null {
  const [text, again] = bytes.toString("latin1").split("\n");
  return text === again ? text! : null;
}

export const isFull = ({ end }: Head) => end > MAX_BYTES;
export const isSettled = ({ last, durable }: Head) => last === durable;
export const firstLine = HEAD_BYTES;

/** What became of an entry: on the disk, dropped, or not known yet. */
export function fateOf(head: Head, id: string, number: number): "durable" | "void" | null {
  if (head.id !== id) return "void";
  if (head.voids.some(([first, last]) => first <= number && number <= last)) return "void";
  return number <= head.durable ? "durable" : null;
}

export function applied(value: unknown, entries: readonly LedgerEntry[], key: string): Record<string, unknown> {
  const before = (value ?? {}) as Record<string, unknown>;
  const list = [...((before[key] ?? []) as readonly unknown[])];
  for (const { item, at = list.length } of entries) list[at] = item;
  return Object.assign({ ...before }, ...entries.map(({ fields }) => fields ?? {}), { [key]: list });
}
