// Promise 6: a role that may not edit cannot leave an edit behind, whichever tool it used. The tree is kept when such an
// agent starts and compared when it ends; what it changed is put back, and a copy of it stays in the harness's folder.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { atomicWrite } from "../files/index.js";
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
interface Layout {
  readonly root: string;
  readonly own: string;
}

interface TreeRecord {
  readonly takenMs: number;
  readonly entries: readonly (readonly [string, TreeEntry])[];
  readonly skipped: readonly string[];
  readonly bytes: boolean;
  /** Permissions of files, which may be tighter than a tree entry tells. */
  readonly modes: Readonly<Record<string, number>>;
}

export interface TreeComparison {
  readonly changed: readonly string[];
  readonly reverted: readonly string[];
  /** Where the agent's version of what was put back is kept; null when nothing was. */
  readonly copy: string | null;
}

export function keepTree(layout: Layout, agentId: string): void {
  const folder = placeOf(layout, agentId);
  // Before the look, or our own folder would be a change.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const skipped = ignoredFolders(layout.root);
  const tree = lookAt(layout.root, { skip: skipper(skipped) });
  const size = [...tree.entries.values()].reduce((sum, entry) => sum + entry.size, 0);
  const bytes = size <= MAX_BYTES && tree.entries.size <= MAX_ENTRIES;
  if (bytes) {
    const objects = new Objects(join(folder, "objects"), join(folder, "objects"));
    for (const [path, entry] of tree.entries) objects.keep(join(layout.root, path), entry);
  }
  const files = [...tree.entries].filter(([, { type }]) => type === "file").map(([path]) => path);
  const modes = Object.fromEntries(files.map((path) => [path, lstatSync(join(layout.root, path)).mode & 0o7777]));
  const record: TreeRecord = { takenMs: tree.takenMs, entries: [...tree.entries], skipped, bytes, modes };
  atomicWrite(join(folder, "tree.json"), JSON.stringify(record), { durable: false });
}

/** null when nothing was kept for this agent. `mine` tells whose change a path is. Forgets the tree afterwards. */
export function compareTree(
  layout: Layout,
  agentId: string,
  { revert, mine }: { readonly revert: boolean; readonly mine: (path: string) => boolean },
): TreeComparison | null {
  const folder = placeOf(layout, agentId);
  const file = join(folder, "tree.json");
  if (!existsSync(file)) return null;
  const record = JSON.parse(readFileSync(file, "utf8")) as TreeRecord;
  const before: Tree = { entries: new Map(record.entries), takenMs: record.takenMs };
  const after = lookAt(layout.root, { before, skip: skipper(record.skipped) });
  const changes = compareTrees(before, after);
  const undo = undoing(
    changes.filter(({ path }) => mine(path)),
    after,
  );
  const isPutBack = revert && record.bytes && undo.length > 0;
  const copy = isPutBack ? putBack(layout, folder, undo, agentId, record.modes) : null;
  rmSync(folder, { recursive: true, force: true });
  const names = (list: readonly Change[]) => fileChanges(list).map(({ path }) => path);
  return { changed: names(changes), reverted: copy === null ? [] : names(undo), copy };
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
  layout: Layout,
  folder: string,
  undo: readonly Change[],
  agentId: string,
  modes: TreeRecord["modes"],
): string {
  const copy = join(layout.own, "reverted", safeName(agentId));
  for (const { path, before } of undo) {
    if (before === null || before.type !== "file") continue;
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(layout.root, path), join(copy, path), { force: true });
  }
  const objects = new Objects(join(folder, "objects"), join(folder, "objects"));
  objects.apply(layout.root, undo);
  for (const { path, after } of undo) {
    if (after?.type === "file" && modes[path] !== undefined) chmodSync(join(layout.root, path), modes[path]);
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

const placeOf = (layout: Layout, agentId: string): string => join(layout.own, "trees", safeName(agentId));

/** An agent id is opaque and may hold anything; a file name may not. */
function safeName(agentId: string): string {
  return /^[\w-]{1,100}$/.test(agentId) ? agentId : `id-${Buffer.from(agentId).toString("hex").slice(0, 120)}`;
}
