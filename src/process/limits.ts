// How much of the machine a child and everything it starts may use. The kernel holds what it can (a control group where one
// may be made; processes and the size of a file by `prlimit`), which does not work for everyone. So their sum is also looked
// at a few times a second, all watched children in one look; who is over is ended whole. Never by address space: engines
// that reserve terabytes would not start.
import { existsSync, lstatSync, readdirSync, statfsSync } from "node:fs";
import { release, totalmem } from "node:os";
import { join } from "node:path";
import type { ControlGroup } from "./control-group.js";
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
  readonly group: ControlGroup | null;
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
  const { limits, pid, group } = entry;
  const refused = refusedByKernel(limits, group);
  if (refused !== null) return refused;
  const family = familyOf(rows, pid);
  const tasks = family.reduce((sum, row) => sum + row.threads, 0);
  if (tasks > limits.tasks) return tooMany(limits);
  const memory = family.reduce((sum, row) => sum + row.residentPages, 0) * PAGE_BYTES;
  if (memory > limits.memoryBytes) return tooLarge(limits);
  return grewTooMuch(entry) ? `${inWords(limits.diskBytes)} of disk` : null;
}

/** What the group was refused, which its end alone does not tell. */
export function refusedByKernel(limits: Limits, group: ControlGroup | null): string | null {
  const what = group?.refused() ?? null;
  if (what === null) return null;
  return what === "tasks" ? tooMany(limits) : tooLarge(limits);
}

const tooMany = ({ tasks }: Limits): string => `${tasks} processes`;
const tooLarge = ({ memoryBytes }: Limits): string => `${inWords(memoryBytes)} of memory`;

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

const PRLIMIT = "/usr/bin/prlimit";
/** Since then processes are counted by user namespace, so that those of a sandbox are not added to the person's own. */
const COUNTS_BY_NAMESPACE = [5, 14] as const;

/** The watch says what there was too much of, so the kernel refuses a little later. */
const LATER = 1.25;

/** What stands before a command inside a sandbox, so that the kernel refuses it too large a file and too many processes. */
export function kernelLimits({ tasks, diskBytes }: Limits, ownNamespace: boolean): string[] {
  if (!existsSync(PRLIMIT)) return [];
  const [major = 0, minor = 0] = release().split(".").map(Number);
  const [sinceMajor, sinceMinor] = COUNTS_BY_NAMESPACE;
  const counts = major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
  const fileSize = `--fsize=${Math.ceil(diskBytes * LATER)}`;
  return [PRLIMIT, fileSize, ...(ownNamespace && counts ? [`--nproc=${Math.ceil(tasks * LATER)}`] : []), "--"];
}

/** Where on disk a sandbox lets its command write. */
export function writableFolders({ mounts = [] }: Sandbox): string[] {
  return mounts.flatMap((mount) => {
    if (mount.access === "overlay") return [mount.changes];
    return mount.access === "writable" ? [mount.from ?? mount.path] : [];
  });
}
