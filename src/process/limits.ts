// How much of the machine a child and everything it starts may use. The kernel has no way that works for everyone (a control
// group has to be delegated, and limits per account count the person's own programs), so their sum is looked at a few
// times a second, all watched children in one look; who is over is ended whole. Never by address space: engines that
// reserve terabytes would not start.
import { lstatSync, readdirSync, statfsSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { familyOf, type ProcessRow, processes } from "./descendants.js";
import type { Sandbox } from "./sandbox.js";

export interface Limits {
  /** Processes and threads at one time. */
  readonly tasks: number;
  /** Memory in use at one time, all processes together. */
  readonly memoryBytes: number;
  /** What the folders it may write to grow by. */
  readonly diskBytes: number;
}

const GIB = 1024 ** 3;

/** Generous: more than a large build needs, less than takes a machine down. */
export const DEFAULT_LIMITS: Limits = {
  tasks: 8_192,
  memoryBytes: Math.min(32 * GIB, Math.floor(totalmem() * 0.75)),
  diskBytes: 32 * GIB,
};

const TICK_MS = 250;
/** Folders are measured when the disk they lie on lost this share of the limit, and not all the time. */
const SUSPICIOUS = 0.5;
const MEASURE_MS = 2_000;
const PAGE_BYTES = 4_096;

export interface Watched {
  readonly pid: number;
  readonly limits: Limits;
  /** Folders on disk it may write to. */
  readonly folders: readonly string[];
  /** Called once, with what there was too much of. */
  readonly onExceeded: (what: string) => void;
}

interface Entry extends Watched {
  readonly freeAtStart: readonly number[];
  measuredMs: number;
}

const entries = new Set<Entry>();
let timer: NodeJS.Timeout | undefined;

/** Returns what ends the watch. */
export function watchLimits(watched: Watched): () => void {
  const entry: Entry = { ...watched, freeAtStart: watched.folders.map(freeBytes), measuredMs: 0 };
  entries.add(entry);
  timer ??= setInterval(look, TICK_MS).unref();
  return () => {
    entries.delete(entry);
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function look(): void {
  const rows = processes();
  for (const entry of [...entries]) {
    const what = tooMuch(entry, rows);
    if (what === null) continue;
    entries.delete(entry);
    entry.onExceeded(what);
  }
}

function tooMuch(entry: Entry, rows: readonly ProcessRow[]): string | null {
  const { limits, pid } = entry;
  const family = familyOf(rows, pid);
  const tasks = family.reduce((sum, row) => sum + row.threads, 0);
  if (tasks > limits.tasks) return `${limits.tasks} processes`;
  const memory = family.reduce((sum, row) => sum + row.residentPages, 0) * PAGE_BYTES;
  if (memory > limits.memoryBytes) return `${inWords(limits.memoryBytes)} of memory`;
  return grewTooMuch(entry) ? `${inWords(limits.diskBytes)} of disk` : null;
}

/** Others write to the same disk, so a disk that fills only says when to look closer. */
function grewTooMuch(entry: Entry): boolean {
  const { folders, freeAtStart, limits } = entry;
  const suspicious = folders.some(
    (folder, index) => freeAtStart[index]! - freeBytes(folder) > limits.diskBytes * SUSPICIOUS,
  );
  if (!suspicious || performance.now() - entry.measuredMs < MEASURE_MS) return false;
  entry.measuredMs = performance.now();
  let left = limits.diskBytes;
  for (const folder of folders) left -= sizeUpTo(folder, left);
  return left <= 0;
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** What a folder takes on disk; stops counting above `most`. */
function sizeUpTo(folder: string, most: number): number {
  let bytes = 0;
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined && bytes <= most; at = waiting.pop()) {
    try {
      const stat = lstatSync(at);
      bytes += stat.blocks * 512;
      if (stat.isDirectory()) for (const name of readdirSync(at)) waiting.push(join(at, name));
    } catch {
      // Gone, closed or too deep: what cannot be seen is not counted.
    }
  }
  return bytes;
}

const inWords = (bytes: number): string =>
  bytes >= GIB ? `${Math.round(bytes / GIB)} GiB` : `${Math.max(1, Math.round(bytes / 1024 ** 2))} MiB`;

/** Where on disk a sandbox lets its command write. */
export function writableFolders({ mounts = [] }: Sandbox): string[] {
  return mounts.flatMap((mount) => {
    if (mount.access === "overlay") return [mount.changes];
    return mount.access === "writable" ? [mount.from ?? mount.path] : [];
  });
}
