// Promise 6: a role that may not edit cannot leave an edit behind, whichever tool it used. The tree is kept when such an
// agent starts and compared when it ends; what it changed is put back, and a copy of it stays in the harness's folder.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { atomicWrite } from "../files/index.js";
import { onDisk, safeName } from "./disk-names.js";
import { Objects } from "./objects.js";
import {
  type Change,
  compareTrees,
  fileChanges,
  lookAt,
  type Tree,
  type TreeEntry,
  withoutNeededFolders,
} from "./tree.js";

/** Beyond these a tree is watched but its bytes are not kept: changes are reported, not put back. */
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_ENTRIES = 50_000;

/** Never looked at: version control's own, our own, and what package managers make. */
const STATE = ".nexus/state";
const SKIPPED = new Set([".git", "node_modules", ".venv", "venv", "__pycache__", ".pytest_cache"]);

/** Where the project is, and where the harness keeps its own files. */
export interface Guarded {
  readonly root: string;
  readonly own: string;
  /** Where trees are remembered; best where agents do not work. */
  readonly trees: string;
  /** Where it is kept how an agent left the tree; null where nobody looks again. */
  readonly ended: string | null;
}

interface TreeRecord {
  readonly takenMs: number;
  readonly entries: readonly (readonly [string, TreeEntry])[];
  readonly skipped: readonly string[];
  readonly bytes: boolean;
  /** Permissions of files and folders, which may be tighter than a tree entry tells. */
  readonly modes: Readonly<Record<string, number>>;
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
  const skipped = ignoredFolders(layout.root);
  const tree = lookAt(layout.root, { skip: skipper(skipped), unlock: () => false });
  const size = [...tree.entries.values()].reduce((sum, entry) => sum + entry.size, 0);
  const bytes = size <= MAX_BYTES && tree.entries.size <= MAX_ENTRIES;
  if (bytes) {
    const objects = new Objects(join(folder, "objects"), join(folder, "objects"));
    for (const [path, entry] of tree.entries) objects.keep(join(layout.root, path), entry);
  }
  const paths = [...tree.entries].filter(([, { type }]) => type === "file" || type === "folder").map(([path]) => path);
  const modes = Object.fromEntries(["", ...paths].map((path) => [path, modeOf(layout.root, path)]));
  const record: TreeRecord = { takenMs: tree.takenMs, entries: [...tree.entries], skipped, bytes, modes };
  atomicWrite(join(folder, "tree.json"), JSON.stringify(record), { durable: false });
}

/** null when nothing was kept for this agent. `mine` tells whose change a path is. Forgets the tree afterwards. */
export function compareTree(
  layout: Guarded,
  agentId: string,
  { revert, mine }: { readonly revert: boolean; readonly mine: (path: string) => boolean },
): TreeComparison | null {
  const folder = placeOf(layout, agentId);
  const file = join(folder, "tree.json");
  if (!existsSync(file)) return null;
  const record = JSON.parse(readFileSync(file, "utf8")) as TreeRecord;
  const before: Tree = { entries: new Map(record.entries), takenMs: record.takenMs };
  const opened: string[] = [];
  const unlock = (path: string) => {
    // What was shut before the agent came stays shut.
    if (record.modes[path] === undefined && before.entries.has(path)) return false;
    opened.push(path);
    return open(join(layout.root, path));
  };
  openFolder(layout.root);
  const after = lookAt(layout.root, { before, skip: skipper(record.skipped), unlock });
  opened.push(...folderModes(layout.root, after, record.modes).filter((path) => !opened.includes(path)));
  const changes = compareTrees(before, after);
  const undo = undoing(
    changes.filter(({ path }) => mine(path)),
    after,
  );
  const isPutBack = revert && record.bytes && undo.length + opened.length > 0;
  // First: nothing can be put into a folder that may not be written.
  if (isPutBack) for (const path of opened) restoreMode(layout.root, path, record.modes);
  const copy = isPutBack ? putBack(layout, folder, undo, agentId, record.modes) : null;
  restoreMode(layout.root, "", record.modes);
  if (layout.ended !== null) keepEnd(layout.root, layout.ended, after, record.skipped);
  rmSync(folder, { recursive: true, force: true });
  const names = (list: readonly Change[]) => [...new Set([...fileChanges(list).map(({ path }) => path), ...opened])];
  return { changed: names(changes), reverted: copy === null ? [] : names(undo), copy };
}

interface EndRecord {
  readonly takenMs: number;
  readonly entries: TreeRecord["entries"];
  readonly skipped: readonly string[];
}

function keepEnd(root: string, file: string, before: Tree, skipped: readonly string[]): void {
  const { takenMs, entries } = lookAt(root, { before, skip: skipper(skipped), unlock: () => false });
  const record: EndRecord = { takenMs, entries: [...entries], skipped };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  atomicWrite(file, JSON.stringify(record), { mode: 0o600, durable: false });
}

/** What changed since the last agent left the tree. Each change is told once, and none after `forget` or before `sinceMs`. */
export function changesSince(
  root: string,
  file: string,
  { forget, sinceMs }: { readonly forget: boolean; readonly sinceMs: number },
): string[] {
  if (!existsSync(file)) return [];
  const record = JSON.parse(readFileSync(file, "utf8")) as EndRecord;
  if (forget || record.takenMs < sinceMs) {
    rmSync(file, { force: true });
    return [];
  }
  const before: Tree = { entries: new Map(record.entries), takenMs: record.takenMs };
  const after = lookAt(root, { before, skip: skipper(record.skipped), unlock: () => false });
  const changed = fileChanges(compareTrees(before, after)).map(({ path }) => path);
  if (changed.length > 0)
    atomicWrite(file, JSON.stringify({ ...record, entries: [...after.entries] }), { durable: false });
  return changed;
}

/** Whether its owner may read it now. */
function open(path: string): boolean {
  try {
    const disk = onDisk(path);
    chmodSync(disk, lstatSync(disk).isDirectory() ? 0o700 : 0o600);
    return true;
  } catch {
    return false;
  }
}

/** Makes a folder its owner's again, if it can be and is not. */
export function openFolder(folder: string): void {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    open(folder);
  }
}

const modeOf = (root: string, path: string): number => lstatSync(onDisk(join(root, path))).mode & 0o7777;

/** Folders whose permissions are not what they were. */
function folderModes(root: string, { entries }: Tree, modes: TreeRecord["modes"]): string[] {
  return [...entries].flatMap(([path, { type }]) =>
    type === "folder" && modes[path] !== undefined && modes[path] !== modeOf(root, path) ? [path] : [],
  );
}

function restoreMode(root: string, path: string, modes: TreeRecord["modes"]): void {
  const disk = onDisk(join(root, path));
  const isOther = modes[path] !== undefined && existsSync(disk) && modeOf(root, path) !== modes[path];
  if (isOther) chmodSync(disk, modes[path]!);
}

/** What takes changes back: folders in which others have put something, or the harness its state, stay. */
function undoing(changes: readonly Change[], now: Tree): Change[] {
  const undo = changes.map(
    ({ path, before, after }): Change => ({ path, kind: "modified", before: after, after: before }),
  );
  const state: TreeEntry = { type: "folder", executable: false, size: 0, hash: "" };
  return withoutNeededFolders(undo, { ...now, entries: new Map(now.entries).set(STATE, state) });
}

function putBack(
  layout: Guarded,
  folder: string,
  undo: readonly Change[],
  agentId: string,
  modes: TreeRecord["modes"],
): string {
  const copy = join(layout.own, "reverted", safeName(agentId));
  for (const { path, before } of undo) {
    if (before === null || before.type !== "file") continue;
    mkdirSync(onDisk(dirname(join(copy, path))), { recursive: true });
    copyFileSync(onDisk(join(layout.root, path)), onDisk(join(copy, path)));
  }
  const objects = new Objects(join(folder, "objects"), join(folder, "objects"));
  objects.apply(layout.root, undo);
  for (const { path, after } of undo) {
    if (after?.type === "file") restoreMode(layout.root, path, modes);
  }
  return copy;
}

function skipper(skipped: readonly string[]): (path: string) => boolean {
  const ignored = new Set(skipped);
  return (path) => path === STATE || SKIPPED.has(path.slice(path.lastIndexOf("/") + 1)) || ignored.has(path);
}

/** Folders git ignores as a whole: build output. Ignored single files (`.env`) are still watched. */
function ignoredFolders(root: string): string[] {
  if (!existsSync(join(root, ".git"))) return [];
  const args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
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
