// What a folder holds, down to modes, links and empty folders, and what changed between two looks at it.
// A second look hashes only what the file system says was touched: size, inode, and the change time, which no
// program can set back.
import { createHash, hash as hashOf } from "node:crypto";
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { join } from "node:path";
import { byBytes, foldersAbove, rawEntries } from "../files/index.js";
import { nameFrom, onDisk } from "./disk-names.js";

export interface TreeEntry {
  readonly type: "file" | "link" | "folder" | "other";
  readonly executable: boolean;
  readonly size: number;
  /** sha256 of the bytes, or of a link's target; empty for folders. */
  readonly hash: string;
}

export interface StampedEntry extends TreeEntry {
  /** What the file system changes whenever the entry does. */
  readonly stamp: string;
}

export interface Tree {
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** When the look began; a file changed later than this (less the clock's grain) may hide behind equal stamps. */
  readonly takenMs: number;
  /** Nothing of the folder was left out but git's own. */
  readonly whole?: true;
}

/** File systems stamp with the kernel's tick, which may lag behind the clock. */
export const CLOCK_GRAIN_MS = 40;

export interface LookOptions {
  /** An earlier look at the same folder. */
  readonly before?: Tree;
  /** Paths not to look at, folders included. */
  readonly skip?: (path: string) => boolean;
  /**
   * For a look that must miss nothing: names that are not UTF-8 are seen too (as `onDisk` knows them), and this is asked when
   * something may not be read; whether to try again.
   */
  readonly unlock?: (path: string) => boolean;
}

/**
 * Looks that later ones at the same folder build on. Only those taken before anybody could work there: a file that is mapped
 * and dirty already can be written to without a new change time, one that nobody has opened yet cannot.
 */
const remembered = new Map<string, Remembered>();

/** A look, and quicker ways to tell that nothing changed since than to look at every entry. */
export interface Remembered {
  readonly tree: Tree;
  readonly isAsItWas: () => boolean;
  /** The same while others are at work; null where nobody can tell. */
  readonly isAsItWasBeside: (() => Promise<boolean>) | null;
}

/** A look that nobody can compare quickly. */
export const slowly = (tree: Tree): Remembered => ({ tree, isAsItWas: () => false, isAsItWasBeside: null });

export function rememberTree(folder: string, look: Remembered): void {
  remembered.set(folder, look);
}

/** Nobody works there any more. */
export function forgetTree(folder: string): void {
  remembered.delete(folder);
}

/** The look at a folder that was remembered, if it is known quickly that nothing changed there since. */
export function unchangedTree(folder: string): Tree | null {
  const kept = remembered.get(folder);
  return kept?.isAsItWas() === true ? kept.tree : null;
}

/** The same while others are at work; null at once where nobody can tell. */
export function unchangedTreeBeside(folder: string): Promise<Tree | null> | null {
  const kept = remembered.get(folder);
  const same = kept?.isAsItWasBeside?.();
  return same === undefined ? null : same.then((isSame) => (isSame ? kept!.tree : null));
}

/** Looks at every entry under `folder`. Never follows a link. */
export function lookAt(folder: string, { before: given, skip, unlock }: LookOptions = {}): Tree {
  const takenMs = Date.now();
  const same = given === undefined && unlock === undefined ? unchangedTree(folder) : null;
  if (same !== null) return without(same, skip);
  const before = given ?? remembered.get(folder)?.tree;
  const entries = new Map<string, TreeEntry>();
  for (const { path } of entriesIn(folder, skip, unlock)) {
    const [place, earlier] = [below(folder, path), before?.entries.get(path)];
    const see = () => seeEntry(place, earlier, before?.takenMs ?? 0);
    const entry = unlock === undefined ? see() : unlocked(path, see, unlock, SHUT);
    if (entry !== null) entries.set(path, entry);
  }
  return { entries, takenMs };
}

/** For paths that need no tidying, of which there may be a hundred thousand. */
const below = (folder: string, path: string): string => (path === "" ? folder : `${folder}/${path}`);

/** A folder that is left out takes with it what it holds; it comes before it. The tree itself when nothing is left out. */
export function without(tree: Tree, skip: (path: string) => boolean = () => false): Tree {
  const { entries, takenMs } = tree;
  const left = new Set<string>();
  for (const path of entries.keys()) {
    if (left.has(path.slice(0, Math.max(0, path.lastIndexOf("/")))) || skip(path)) left.add(path);
  }
  if (left.size === 0) return tree;
  const kept = new Map(entries);
  for (const path of left) kept.delete(path);
  return { entries: kept, takenMs };
}

/** A copy we just made of a tree we looked at: the same content, stamps of its own. What did not come along is not in it. */
export function lookAtCopy(folder: string, original: Tree, skip: (path: string) => boolean = () => false): Tree {
  const takenMs = Date.now();
  const entries = new Map<string, TreeEntry>();
  for (const [path, entry] of original.entries) {
    const stats = skip(path) ? undefined : lstatSync(below(folder, path), { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) continue;
    const { type, executable, size, hash } = entry;
    entries.set(path, { type, executable, size, hash, stamp: stampOf(stats) } as StampedEntry);
  }
  return { entries, takenMs };
}

/** Joined, which makes one text: a template keeps its pieces until somebody compares it. */
const stampOf = ({ size, ino, ctimeNs, mode }: BigIntStats): string => [size, ino, ctimeNs, mode].join(":");

/** What may not be read and could not be unlocked. */
const SHUT: TreeEntry | null = { type: "other", executable: false, size: 0, hash: "" };

/** An entry of a folder that anybody may have shut, or null when it is gone. */
export const seeUnlocked = (folder: string, path: string, unlock: (path: string) => boolean): TreeEntry | null =>
  unlocked(path, () => seeEntry(below(folder, path)), unlock, SHUT);

function unlocked<T>(path: string, read: () => T, unlock: (path: string) => boolean, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (!isShut(error)) throw error;
    return unlock(path) ? read() : otherwise;
  }
}

const isShut = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM";
};

/** Every path under `folder`, a folder before what it holds. Never follows a link. */
export function* pathsIn(
  folder: string,
  skip: (path: string) => boolean = () => false,
  unlock?: (path: string) => boolean,
): Generator<string> {
  for (const { path } of entriesIn(folder, skip, unlock)) yield path;
}

/** The same with what each is, as far as its folder says so. */
export function* entriesIn(
  folder: string,
  skip: (path: string) => boolean = () => false,
  unlock?: (path: string) => boolean,
): Generator<Item> {
  const namesOf = unlock === undefined ? namesIn : everyNameIn;
  const itemsOf = (inside: string) =>
    namesOf(below(folder, inside), inside === "" ? "" : `${inside}/`).sort((a, b) => byBytes(b.path, a.path));
  const open = itemsOf("");
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, type } = next;
    if (skip(path)) continue;
    yield next;
    if (type !== "folder") continue;
    const items = unlock === undefined ? itemsOf(path) : unlocked(path, () => itemsOf(path), unlock, []);
    for (const item of items) open.push(item);
  }
}

const typeOf = (item: Pick<Dirent, "isDirectory" | "isFile" | "isSymbolicLink">): TreeEntry["type"] =>
  item.isFile() ? "file" : item.isDirectory() ? "folder" : item.isSymbolicLink() ? "link" : "other";

interface Item {
  readonly path: string;
  readonly type: TreeEntry["type"];
}

const namesIn = (folder: string, head: string): Item[] =>
  readdirSync(folder, { withFileTypes: true }).map((item) => ({ path: head + item.name, type: typeOf(item) }));

/** A folder that can be listed but not entered hides what it holds: that counts as one that may not be read. */
function everyNameIn(folder: string, head: string): Item[] {
  const disk = onDisk(folder);
  accessSync(disk, constants.R_OK | constants.X_OK);
  return rawEntries(disk).map((item) => ({
    path: head + nameFrom(item.name),
    type: typeOf(item),
  }));
}

/** One entry, or null when it is gone. `earlier` saves reading the bytes when nothing can have changed. */
export function seeEntry(path: string, earlier?: TreeEntry, takenMs = 0): TreeEntry | null {
  const disk = onDisk(path);
  let stats: BigIntStats;
  try {
    stats = lstatSync(disk, { bigint: true });
  } catch (error) {
    // What is too deep to be looked at is there all the same.
    if ((error as NodeJS.ErrnoException).code === "ENAMETOOLONG") throw error;
    return null;
  }
  const stamp = stampOf(stats);
  const isUntouched = earlier !== undefined && (earlier as StampedEntry).stamp === stamp;
  if (isUntouched && stats.ctimeMs + BigInt(CLOCK_GRAIN_MS) < takenMs) return earlier;
  const executable = stats.isFile() && (Number(stats.mode) & 0o111) !== 0;
  const entry = (type: TreeEntry["type"], { size, hash }: Seen = NOTHING): StampedEntry => ({
    type,
    executable,
    size,
    hash,
    stamp,
  });
  if (stats.isDirectory()) return entry("folder");
  if (stats.isSymbolicLink()) return entry("link", seen(readlinkSync(disk, "buffer")));
  if (stats.isFile()) return entry("file", seenFile(disk));
  return entry("other");
}

type Seen = Pick<TreeEntry, "size" | "hash">;

const NOTHING: Seen = { size: 0, hash: "" };

const seen = (bytes: Uint8Array): Seen => ({ size: bytes.length, hash: hashOf("sha256", bytes, "hex") });

/** One for all files, which are read piece by piece: what is made anew for each of a hundred thousand is held long after it. */
const PIECE = Buffer.allocUnsafeSlow(256 * 1024);
/** Whatever stands there by now: no link is followed, no pipe waited for. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function seenFile(path: string | Buffer): Seen {
  const file = openSync(path, READ);
  try {
    let got = fill(file);
    if (got < PIECE.length) return seen(PIECE.subarray(0, got));
    const digest = createHash("sha256");
    let size = 0;
    for (; got > 0; got = fill(file)) {
      digest.update(PIECE.subarray(0, got));
      size += got;
    }
    return { size, hash: digest.digest("hex") };
  } finally {
    closeSync(file);
  }
}

/** Less than a whole piece is the end of the file. */
function fill(file: number): number {
  let length = 0;
  while (length < PIECE.length) {
    const got = readSync(file, PIECE, length, PIECE.length - length, null);
    if (got === 0) break;
    length += got;
  }
  return length;
}

export interface Change {
  readonly path: string;
  readonly kind: "created" | "modified" | "deleted";
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
}

export function sameEntry(a: TreeEntry | null | undefined, b: TreeEntry | null | undefined): boolean {
  if (a === b) return true;
  if (a == null || b == null) return a == null && b == null;
  return a.type === b.type && a.executable === b.executable && a.hash === b.hash;
}

/** Every difference, in path order. Content is compared, never times. */
export function compareTrees(before: Tree, after: Tree): Change[] {
  if (before.entries === after.entries) return [];
  const changes: Change[] = [];
  for (const [path, entry] of after.entries) {
    const old = before.entries.get(path) ?? null;
    if (!sameEntry(old, entry)) {
      changes.push({ path, kind: old === null ? "created" : "modified", before: old, after: entry });
    }
  }
  for (const [path, entry] of before.entries) {
    if (!after.entries.has(path)) changes.push({ path, kind: "deleted", before: entry, after: null });
  }
  return changes.sort((a, b) => byBytes(a.path, b.path));
}

/** Changes as a person counts them: a folder that came or went with its files is not one of its own. */
export function fileChanges(changes: readonly Change[]): Change[] {
  const folders = foldersAbove(changes.map(({ path }) => path));
  return changes.filter(({ path, before, after }) => (after ?? before!).type !== "folder" || !folders.has(path));
}

/** The tree after some changes, without looking again. */
export function withChanges(tree: Tree, changes: readonly Change[]): Tree {
  const entries = new Map(tree.entries);
  for (const { path, after } of changes) {
    if (after === null) entries.delete(path);
    else entries.set(path, after);
  }
  return { entries, takenMs: tree.takenMs };
}

/** Without the removal of folders in which something stays when the changes are applied to `tree`. */
export function withoutNeededFolders(changes: readonly Change[], tree: Tree): Change[] {
  const isFolderGone = ({ before, after }: Change) => after === null && before?.type === "folder";
  if (!changes.some(isFolderGone)) return [...changes];
  const deletedPaths = new Set(changes.filter(({ after }) => after === null).map(({ path }) => path));
  const staying = [...tree.entries.keys(), ...changes.map(({ path }) => path)].filter(
    (path) => !deletedPaths.has(path),
  );
  const neededFolders = foldersAbove(staying);
  return changes.filter((change) => !(isFolderGone(change) && neededFolders.has(change.path)));
}

/** Whether every folder above a path is a real one: a link there leads out of the tree. `over` is what `folder` lies over. */
export function parentsAreFolders(folder: string, path: string, over?: string): boolean {
  const parts = path.split("/").slice(0, -1);
  const found = (root: string, inside: string) => lstatSync(onDisk(join(root, inside)), { throwIfNoEntry: false });
  return parts.every((_, index) => {
    const inside = parts.slice(0, index + 1).join("/");
    const stat = found(folder, inside) ?? (over === undefined ? undefined : found(over, inside));
    return stat?.isDirectory() === true;
  });
}
