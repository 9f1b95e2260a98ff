// Promise 6: a role that may not edit cannot leave an edit behind, whichever tool it used. The tree is listed when such an
// agent starts and compared when it ends; what it changed is put back, and a copy of it stays in the harness's folder.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { atomicWrite, removeFolder, renameOver } from "../files/index.js";
import { KeptBlobs } from "./blobs.js";
import { onDisk, safeName } from "./disk-names.js";
import {
  changesTo,
  type KeptChange,
  type KeptTree,
  keepListing,
  readKept,
  settled,
  waitForClock,
  writeKept,
} from "./kept-tree.js";
import { entryOf, isStill, latin1Of, linesOf, listTree, pathFrom, relisted, STATE } from "./listing.js";
import { diffListings, type ListedLine } from "./listing-diff.js";
import { Objects } from "./objects.js";
import { fileChanges, type Tree, type TreeEntry, withoutNeededFolders } from "./tree.js";
import { unlock } from "./unlock.js";

/** Where the project is, and where the harness keeps its own files. */
export interface Guarded {
  /** The work tree that is guarded. */
  readonly root: string;
  readonly own: string;
  /** Where trees are remembered; best where agents do not work. */
  readonly trees: string;
  /** What is known of the tree from one agent to the next: read again is only what changed since. */
  readonly base: string;
  /** Where it is kept how an agent left the tree; null where nobody looks again. */
  readonly ended: string | null;
}

interface TreeRecord {
  readonly root: string;
  readonly takenMs: number;
  readonly skipped: readonly string[];
}

export interface TreeComparison {
  readonly changed: readonly string[];
  readonly reverted: readonly string[];
  /** Where the agent's version of what was put back is kept; null when nothing was. */
  readonly copy: string | null;
}

/** What is remembered already stays: an agent that is announced again while it works has not begun anew. */
export function keepTree(layout: Guarded, agentId: string): void {
  const folder = placeOf(layout, agentId);
  if (existsSync(join(folder, "tree.json"))) return;
  // Before the look, or our own folders would be a change.
  mkdirSync(layout.own, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { kept, record, index } = remember(layout);
  const seenMs = Date.now();
  const file = join(folder, "tree");
  if (index === null || !named(() => linkSync(index, file))) writeKept(file, kept);
  atomicWrite(join(folder, "tree.json"), JSON.stringify(record), { durable: false });
  waitForClock(seenMs);
}

/** The same bytes under another name cost nothing: such a file is replaced and never written to. */
function named(give: () => void): boolean {
  try {
    give();
    return true;
  } catch {
    // Another disk, or one without links.
    return false;
  }
}

interface Known {
  readonly kept: KeptTree;
  readonly record: TreeRecord;
  /** A file that holds just this; null when there is none. */
  readonly index: string | null;
}

/** Brings what is known of a tree up to date; the first time every file is read, later only what changed. */
export function remember(layout: Pick<Guarded, "root" | "trees" | "base">): Known {
  const { root, base, trees } = layout;
  const isAlone = !existsSync(trees) || !readdirSync(trees).some((name) => existsSync(join(trees, name, "tree.json")));
  mkdirSync(base, { recursive: true, mode: 0o700 });
  const blobs = new KeptBlobs(base, { alone: isAlone });
  const index = join(base, "index");
  const skipped = ignoredFolders(root);
  let kept = readKept(index);
  const isNew = kept === null;
  // Somebody may be writing while we read: what then has another line is read again.
  for (let tries = 0; tries < LOOKS; tries += 1) {
    const takenMs = Date.now();
    const listing = listTree(root, skipped);
    const isKnown = kept?.listing.equals(listing) === true;
    const looked = keepListing(root, listing, kept, blobs);
    kept = looked.kept;
    if (isKnown || tries === LOOKS - 1 || isSeen(root, looked.read)) {
      const isWritten = isKnown && !isNew && tries === 0;
      const known = isWritten ? kept : settled(kept, takenMs);
      if (!isWritten) writeKept(index, known);
      return { kept, record: { root, takenMs, skipped }, index: known === kept ? index : null };
    }
  }
  throw new Error("unreachable");
}

/** Whether what was read is still what was listed. Few are asked one by one; many are listed again. */
const isSeen = (root: string, read: readonly ListedLine[]): boolean =>
  read.length <= FEW && read.every((line) => isStill(root, line));

const FEW = 1_000;

/** Once to read, once to see that nothing moved meanwhile, and once more. */
const LOOKS = 3;

/** null when nothing was kept for this agent. `mine` tells whose change a path is. Forgets the tree afterwards. */
export function compareTree(
  layout: Guarded,
  agentId: string,
  { revert, mine }: { readonly revert: boolean; readonly mine: (path: string) => boolean },
): TreeComparison | null {
  const folder = placeOf(layout, agentId);
  const file = join(folder, "tree.json");
  const before = existsSync(file) ? readKept(join(folder, "tree")) : null;
  if (before === null) return null;
  const { root, skipped } = JSON.parse(readFileSync(file, "utf8")) as TreeRecord;
  const now = openedListing(root, before, skipped);
  const changes = changesTo(root, before, now);
  const blobs = new KeptBlobs(layout.base);
  const undo = changes.length === 0 || !revert ? [] : undoing(changes, mine, now);
  const isPutBack = undo.length > 0;
  const copy = isPutBack ? join(layout.own, "reverted", safeName(agentId)) : null;
  const reverted = copy === null ? [] : putBack(root, undo, { copy, blobs, scratch: join(folder, "objects") });
  if (layout.ended !== null)
    keepEnd(layout.ended, isPutBack ? listedAfter(root, skipped, now, changes) : now, {
      ...{ root, skipped, before, blobs },
      file: join(folder, "tree"),
    });
  rmSync(folder, { recursive: true, force: true });
  return { changed: names(changes), reverted, copy: reverted.length === 0 ? null : copy };
}

/** The list once changes were put back. */
const listedAfter = (root: string, skipped: readonly string[], now: Buffer, changes: readonly KeptChange[]): Buffer =>
  changes.length > FEW
    ? listTree(root, skipped)
    : relisted(
        root,
        now,
        changes.map(({ path }) => latin1Of(path)),
      );

const names = (changes: readonly KeptChange[]): string[] =>
  fileChanges(changes).flatMap(({ path }) => (path === "" ? [] : [path]));

/** A listing that misses nothing: what the agent shut is opened, and that is a change like any other. */
function openedListing(root: string, before: KeptTree, skipped: readonly string[]): Buffer {
  openFolder(root);
  let now = listTree(root, skipped);
  if (before.listing.equals(now) || process.getuid?.() === 0) return now;
  for (let tries = 0; tries < MAX_DEPTH; tries += 1) {
    const { gone, come } = diffListings(before.listing, now);
    const earlier = new Map(gone.map(({ path, line }) => [path, line]));
    const shut = come.filter(({ path, line }) => isShut(line) && !isAlike(line, earlier.get(path)));
    const opened = shut.filter(({ path }) => unlock(join(root, pathFrom(path))));
    if (opened.length === 0) return now;
    now = listTree(root, skipped);
  }
  return now;
}

/** One folder inside the other may have been shut. */
const MAX_DEPTH = 64;

function isShut(line: string): boolean {
  const { type, mode } = entryOf(line);
  return type === "folder" ? (mode & 0o700) !== 0o700 : type === "file" && (mode & 0o400) === 0;
}

/** What was shut before the agent came stays shut. */
const isAlike = (line: string, earlier: string | undefined): boolean =>
  earlier !== undefined && entryOf(earlier).mode === entryOf(line).mode;

interface EndRecord extends TreeRecord {
  readonly tree: string;
}

interface Ended {
  readonly root: string;
  readonly skipped: readonly string[];
  readonly before: KeptTree;
  readonly blobs: KeptBlobs;
  /** Holds `before`. */
  readonly file: string;
}

function keepEnd(file: string, listing: Buffer, { root, skipped, before, blobs, file: known }: Ended): void {
  const takenMs = Date.now();
  const tree = `${file}.tree`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { kept } = keepListing(root, listing, before, blobs);
  // The agent's own is no longer needed.
  if (kept !== before || !named(() => renameOver(known, tree))) writeKept(tree, kept);
  const record: EndRecord = { root, takenMs, skipped, tree };
  atomicWrite(file, JSON.stringify(record), { mode: 0o600, durable: false });
}

/** What changed since the last agent left the tree. Each change is told once, and none after `forget` or before `sinceMs`. */
export function changesSince(
  base: string,
  file: string,
  { forget, sinceMs }: { readonly forget: boolean; readonly sinceMs: number },
): string[] {
  if (!existsSync(file)) return [];
  const { root, takenMs, skipped, tree } = JSON.parse(readFileSync(file, "utf8")) as EndRecord;
  const before = forget || takenMs < sinceMs ? null : readKept(tree);
  if (before === null) {
    for (const one of [file, tree]) rmSync(one, { force: true });
    return [];
  }
  const now = listTree(root, skipped);
  const changed = names(changesTo(root, before, now));
  if (changed.length > 0) writeKept(tree, keepListing(root, now, before, new KeptBlobs(base)).kept);
  return changed;
}

/** Makes a folder its owner's again, if it can be and is not. */
export function openFolder(folder: string): void {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    unlock(folder);
  }
}

/** What takes changes back, as changes: folders in which others have put something, or the harness its state, stay. */
function undoing(changes: readonly KeptChange[], mine: (path: string) => boolean, now: Buffer): KeptChange[] {
  const undo = changes
    .filter(({ path }) => path === "" || mine(path))
    .map((change): KeptChange => ({ ...change, kind: "modified", before: change.after, after: change.before }));
  const folder: TreeEntry = { type: "folder", executable: false, size: 0, hash: "" };
  const isFolderGone = undo.some(({ before, after }) => after === null && before?.type === "folder");
  if (!isFolderGone) return undo;
  const entries = new Map([...linesOf(now).keys()].map((path): [string, TreeEntry] => [pathFrom(path), folder]));
  const tree: Tree = { entries: entries.set(STATE, folder), takenMs: 0 };
  const staying = new Set(withoutNeededFolders(undo, tree).map(({ path }) => path));
  return undo.filter(({ path }) => staying.has(path));
}

interface PutBack {
  readonly copy: string;
  readonly blobs: KeptBlobs;
  readonly scratch: string;
}

/** Returns what could be put back: the bytes of the rest are nowhere. */
function putBack(root: string, undo: readonly KeptChange[], { copy, blobs, scratch }: PutBack): string[] {
  const objects = new Objects(scratch, scratch);
  const isNamed = ({ path }: KeptChange) => !isNameless(join(root, path));
  const possible = undo.filter((change) => hasBytes(change, objects, blobs));
  // First: nothing can be put into a folder that may not be written, or taken out of it.
  for (const change of possible)
    if (change.after?.type === "folder" && isNamed(change)) restoreMode(root, change, 0o700);
  const gone = moveNameless(root, possible, copy);
  const left = possible.filter((change) => !gone(change) && isNamed(change));
  for (const [number, { path, before, after }] of left.entries()) {
    if (before?.type !== "file" || before.hash === after?.hash) continue;
    // No agent's file can be where the harness keeps its own.
    const place = isNameless(join(copy, path)) ? join(copy, STATE, String(number)) : join(copy, path);
    mkdirSync(onDisk(dirname(place)), { recursive: true });
    copyFileSync(onDisk(join(root, path)), onDisk(place));
  }
  objects.apply(
    root,
    left.filter(({ before, after }) => !(after?.type === before?.type && after?.hash === before?.hash)),
  );
  for (const change of left) restoreMode(root, change);
  const done = possible.filter((change) => gone(change) || isNamed(change));
  // By what was done there, as whoever is told knows it: a link in a folder's place is a change, a folder is none.
  return names(done.map((change) => ({ ...change, before: change.after, after: change.before })));
}

/** No path of more bytes can be named to the system; some are left for what is put beside a name. */
const LONGEST_PATH = 4_000;

const isNameless = (path: string): boolean => Buffer.byteLength(path) > LONGEST_PATH;

/**
 * What lies so deep that it has no name for the system goes first, with the topmost folder that the agent made for it, and that folder is
 * the copy. Returns whether a change went with one.
 */
function moveNameless(root: string, changes: readonly KeptChange[], copy: string): (change: KeptChange) => boolean {
  const nameless = changes.filter(({ path }) => isNameless(join(root, path)));
  const made = new Set(nameless.length === 0 ? [] : changes.flatMap(({ path, after }) => (after === null ? path : [])));
  const tops = new Set<string>();
  for (const { path } of nameless) {
    const parts = path.split("/");
    const top = parts.map((_, index) => parts.slice(0, index + 1).join("/")).find((one) => made.has(one));
    if (top !== undefined) tops.add(top);
  }
  for (const top of tops) moveAway(join(root, top), join(copy, top));
  return ({ path }) => [...tops].some((top) => path === top || path.startsWith(`${top}/`));
}

/** To another place, or out of the world where there is no way to it. */
function moveAway(path: string, place: string): void {
  try {
    mkdirSync(onDisk(dirname(place)), { recursive: true });
    renameSync(onDisk(path), onDisk(place));
  } catch {
    removeFolder(path);
  }
}

function hasBytes({ before, after, oid, target }: KeptChange, objects: Objects, blobs: KeptBlobs): boolean {
  if (after === null || after.type === "folder" || after.hash === before?.hash) return true;
  if (after.type === "other") return false;
  const bytes = after.type === "link" ? Buffer.from(target, "latin1") : oid === null ? null : blobs.read(oid);
  if (bytes !== null) objects.keepBytes(after, bytes);
  return bytes !== null;
}

function restoreMode(root: string, { path, after, mode }: KeptChange, more = 0): void {
  if (after === null || mode === null || after.type === "link" || after.type === "other") return;
  const disk = onDisk(join(root, path));
  const stats = lstatSync(disk, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isSymbolicLink() && (stats.mode & 0o7777) !== (mode | more))
    chmodSync(disk, mode | more);
}

/** Folders git ignores as a whole: build output. Ignored single files (`.env`) are still watched. */
function ignoredFolders(root: string): string[] {
  if (!existsSync(join(root, ".git"))) return [];
  // Whoever works here may have named a program there that git would start.
  const args = [
    "-c",
    "core.fsmonitor=false",
    "ls-files",
    "--others",
    "--ignored",
    "--exclude-standard",
    "--directory",
    "-z",
  ];
  const { status, stdout } = spawnSync("git", args, {
    cwd: root,
    encoding: "utf8",
    timeout: 10_000,
    maxBuffer: 1 << 26,
  });
  if (status !== 0) return [];
  return stdout.split("\0").flatMap((path) => (path.endsWith("/") ? [path.slice(0, -1)] : []));
}

const placeOf = ({ trees }: Guarded, agentId: string): string => join(trees, safeName(agentId));
