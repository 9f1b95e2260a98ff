// What runs keep on disk, and how the space comes back. A finished run keeps what tells of it: its journal, the request, the
// delivery, what agents said. Its trees can be large and are of no use any more: the delivery holds what changed in them.
import { spawn } from "node:child_process";
import { type Dirent, existsSync, lstatSync, mkdtempSync, readdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isSystemError } from "../../errors.js";
import { removeFolder } from "../../files/index.js";
import { isAlive } from "../../process/is-alive.js";
import { holdsAtMost } from "../../trees/slots.js";
import { type RunFolder, runFolder, runIds } from "./folder.js";
import { lockRun } from "./lock.js";
import { RunReader } from "./run-reader.js";

/** Removes the trees of a finished run, and the homes its agents had. */
function trimRun(folder: RunFolder): void {
  for (const tree of [...treesOf(folder), ...trashOf(folder)]) removeFolder(tree);
}

/** How long whoever waits for the answer also waits for the space: enough for a tree of a few thousand files. */
const PATIENCE_MS = 100;

/**
 * The same for a run that has just been delivered. The trees are out of the way at once; a large clone is taken apart by a
 * process of its own, which may outlive ours. What a machine that was switched off left of it, the next run removes.
 */
export async function trimDelivered(folder: RunFolder): Promise<void> {
  await clearAway(folder, treesOf(folder));
}

/** Takes folders of a run out of the way at once; the space comes back later. */
export async function clearAway(folder: RunFolder, trees: readonly string[]): Promise<void> {
  const trash = mkdtempSync(join(folder.root, `${TRASH}${process.pid}-`));
  for (const tree of trees) if (existsSync(tree)) renameSync(tree, join(trash, basename(tree)));
  if (holdsFew(trash)) {
    removeFolder(trash);
    return;
  }
  // A timer that is left would keep the process for as long, although nobody waits any more.
  const waiting = new AbortController();
  const patience = setTimeout(PATIENCE_MS, false, { signal: waiting.signal }).catch(() => false);
  const isOver = await Promise.race([takeApart([trash]), patience]);
  waiting.abort();
  // Closed by whoever worked there, or no such program.
  if (isOver) removeFolder(trash);
}

/** As many files and folders as are gone before a program that removes them has started. */
const FEW = 60;

function holdsFew(folder: string): boolean {
  try {
    return holdsAtMost(folder, FEW);
  } catch {
    // An agent closed a folder of it: removing opens it again.
    return false;
  }
}

/** Goes on removing what a process that was cut short left. */
export function sweepTrash(runs: string): void {
  const isDone = (trash: string) => !isAlive(Number.parseInt(basename(trash).slice(TRASH.length), 10));
  const left = runIds(runs).flatMap((id) => trashOf({ root: join(runs, id) }).filter(isDone));
  if (left.length > 0) void takeApart(left);
}

const TRASH = ".trash-";

const trashOf = ({ root }: Pick<RunFolder, "root">): string[] =>
  readdirSync(root).flatMap((name) => (name.startsWith(TRASH) ? [join(root, name)] : []));

/** Nobody has to wait for it. */
function takeApart(folders: readonly string[]): Promise<true> {
  const rm = spawn("rm", ["-rf", "--", ...folders], { detached: true, stdio: "ignore" });
  rm.unref();
  return new Promise((resolve) => {
    rm.once("error", () => resolve(true));
    rm.once("exit", () => resolve(true));
  });
}

const treesOf = ({ main, base, request, slots, objects, homes, checkpoints, scratch }: RunFolder): string[] => [
  ...[main, slots, objects, homes, checkpoints, scratch],
  ...(base === request ? [] : [base]),
];

export interface PruneRules {
  /** Runs that began earlier than this go as a whole. */
  readonly before?: Date;
  /** The oldest go until all that are left hold at most this. */
  readonly maxBytes?: number;
  /** The latest ones stay, whatever the other rules say. */
  readonly keep?: number;
}

export interface PrunedRun {
  readonly id: string;
  /** removed: nothing is left of it; trimmed: its trees went. */
  readonly action: "removed" | "trimmed";
  readonly bytes: number;
}

interface FinishedRun {
  readonly folder: RunFolder;
  readonly createdAt: number;
  readonly bytes: number;
}

/** Takes space back from finished runs. One that can still go on, is at work or cannot be read is never touched. */
export function pruneRuns(runs: string, rules: PruneRules, dryRun: boolean): PrunedRun[] {
  const finished = finishedRuns(runs);
  const going = new Set(runsToRemove(finished, rules));
  return finished.flatMap((run): PrunedRun[] => {
    const { folder, bytes } = run;
    if (going.has(run)) {
      if (!dryRun) whileLocked(folder, () => removeFolder(folder.root));
      return [{ id: folder.id, action: "removed", bytes }];
    }
    const freed = treesOf(folder).reduce((sum, tree) => sum + bytesIn(tree), 0);
    if (!dryRun) whileLocked(folder, () => trimRun(folder));
    return freed > 0 ? [{ id: folder.id, action: "trimmed", bytes: freed }] : [];
  });
}

function finishedRuns(runs: string): FinishedRun[] {
  return runIds(runs).flatMap((id): FinishedRun[] => {
    const { options, status } = new RunReader(runs, id).read();
    if (options === null || status !== "delivered") return [];
    const folder = runFolder(runs, id, options.repo !== undefined);
    // Behind a link lies what is somebody else's.
    if (!lstatSync(folder.root).isDirectory()) return [];
    return [{ folder, createdAt: Date.parse(options.created_at), bytes: bytesIn(folder.root) }];
  });
}

/** `finished` is in the order in which the runs began. */
export function runsToRemove<Run extends Pick<FinishedRun, "createdAt" | "bytes">>(
  finished: readonly Run[],
  { before, maxBytes, keep }: PruneRules,
): Run[] {
  if (before === undefined && maxBytes === undefined) {
    return keep === undefined ? [] : finished.slice(0, Math.max(0, finished.length - keep));
  }
  let left = finished.reduce((sum, { bytes }) => sum + bytes, 0);
  return finished.slice(0, Math.max(0, finished.length - (keep ?? 0))).filter(({ createdAt, bytes }) => {
    const isOld = before !== undefined && createdAt < before.getTime();
    const isTooMuch = maxBytes !== undefined && left > maxBytes;
    if (isOld || isTooMuch) left -= bytes;
    return isOld || isTooMuch;
  });
}

function whileLocked(folder: RunFolder, work: () => void): void {
  const lock = lockRun(folder);
  try {
    work();
  } finally {
    lock.release();
  }
}

/** How much of the disk a folder takes. What goes meanwhile, or may not be looked into, counts for nothing. */
export function bytesIn(folder: string): number {
  let sum = 0;
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of entriesIn(next)) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else sum += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
    }
  }
  return sum;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}
