// Bringing one agent's changes into a tree that moved on meanwhile. What both sides changed is merged line by line;
// what cannot be merged is a conflict, and then nothing is applied: a conflict becomes a task, never an overwrite.
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clearAway, isText } from "../files/index.js";
import { runChild } from "../process/index.js";
import type { Objects } from "./objects.js";
import { type Change, sameEntry, type Tree, type TreeEntry, withoutNeededFolders } from "./tree.js";

export interface Conflict {
  readonly path: string;
  readonly reason: string;
}

export interface Merge {
  /** What to apply to the main tree. With conflicts: the same, with markers where the sides disagree. */
  readonly changes: readonly Change[];
  readonly conflicts: readonly Conflict[];
}

export interface MergeInput {
  readonly changes: readonly Change[];
  readonly main: Tree;
  readonly objects: Objects;
  /** Where temporary files may be put. */
  readonly scratch: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names for the two sides in conflict markers. */
  readonly labels: { readonly ours: string; readonly theirs: string };
}

export async function mergeChanges(input: MergeInput): Promise<Merge> {
  const changes: Change[] = [];
  const conflicts: Conflict[] = [];
  const makingRoom = leavingNames(input);
  for (const change of input.changes) {
    const now = input.main.entries.get(change.path) ?? null;
    if (sameEntry(now, change.after)) continue;
    const blocked = change.after === null ? undefined : blockedBy(change.path, input.main, makingRoom);
    if (blocked !== undefined) {
      conflicts.push({ path: change.path, reason: `${blocked} is no longer a folder` });
      continue;
    }
    if (sameEntry(now, change.before)) {
      changes.push({ ...change, before: now, kind: kindOf(now, change.after) });
      continue;
    }
    const merged = await mergeEntry(change, now, input);
    if (merged.conflict !== null) conflicts.push({ path: change.path, reason: merged.conflict });
    if (merged.after !== undefined && !sameEntry(now, merged.after)) {
      changes.push({ path: change.path, kind: kindOf(now, merged.after), before: now, after: merged.after });
    }
  }
  return { changes: withoutNeededFolders(changes, input.main), conflicts };
}

/** Something that is no folder where this path needs one. */
function blockedBy(path: string, main: Tree, makingRoom: ReadonlySet<string>): string | undefined {
  const parts = path.split("/");
  const parents = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
  return parents.find((parent) => (main.entries.get(parent)?.type ?? "folder") !== "folder" && !makingRoom.has(parent));
}

/** Files that the same changes take away, or turn into a folder, and that nobody else touched meanwhile. */
function leavingNames({ changes, main }: MergeInput): ReadonlySet<string> {
  const leaving = changes.filter(
    ({ path, before, after }) =>
      (after === null || after.type === "folder") && sameEntry(main.entries.get(path) ?? null, before),
  );
  return new Set(leaving.map(({ path }) => path));
}

const kindOf = (before: TreeEntry | null, after: TreeEntry | null): Change["kind"] =>
  before === null ? "created" : after === null ? "deleted" : "modified";

interface Merged {
  /** undefined leaves the main tree's entry as it is. */
  readonly after?: TreeEntry | null;
  readonly conflict: string | null;
}

async function mergeEntry({ before, after, path }: Change, now: TreeEntry | null, input: MergeInput): Promise<Merged> {
  if (after === null) return { conflict: "one side deleted what the other changed" };
  if (now === null) return { after, conflict: "one side deleted what the other changed" };
  if (after.type !== "file" || now.type !== "file") return { conflict: "both sides put something else there" };
  const base = before?.type === "file" ? input.objects.read(path, before) : Buffer.alloc(0);
  const ours = input.objects.read(path, now);
  const theirs = input.objects.read(path, after);
  if (![base, ours, theirs].every(isText)) return { conflict: "both sides changed a binary file" };
  const { bytes, clean } = await mergeText({ base, ours, theirs }, input);
  const executable = now.executable === (before?.executable ?? false) ? after.executable : now.executable;
  const entry: TreeEntry = {
    type: "file",
    executable,
    size: bytes.length,
    hash: createHash("sha256").update(bytes).digest("hex"),
  };
  input.objects.keepBytes(entry, bytes);
  return { after: entry, conflict: clean ? null : `both sides changed the same lines of ${path}` };
}

interface Sides {
  readonly base: Uint8Array;
  readonly ours: Uint8Array;
  readonly theirs: Uint8Array;
}

/** git's own three-way merge; without git the whole file is the conflict. */
async function mergeText({ base, ours, theirs }: Sides, { scratch, env, labels }: MergeInput) {
  const folder = mkdtempSync(join(scratch, "merge-"));
  try {
    const files = { ours: join(folder, "ours"), base: join(folder, "base"), theirs: join(folder, "theirs") };
    writeFileSync(files.ours, ours);
    writeFileSync(files.base, base);
    writeFileSync(files.theirs, theirs);
    const args = ["merge-file", "--diff3"];
    for (const label of [labels.ours, "before", labels.theirs]) args.push("-L", label);
    const result = await runChild({
      command: "git",
      args: [...args, files.ours, files.base, files.theirs],
      cwd: folder,
      env: { PATH: env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" },
      timeoutMs: 30_000,
    }).catch(() => null);
    // The status is the number of conflicts; git keeps 128 and above for its own failures.
    if (result?.code == null || result.code > 127) return { bytes: markedWhole(ours, theirs, labels), clean: false };
    return { bytes: readFileSync(files.ours), clean: result.code === 0 };
  } finally {
    clearAway(folder);
  }
}

function markedWhole(ours: Uint8Array, theirs: Uint8Array, labels: MergeInput["labels"]): Buffer {
  const line = (text: string) => Buffer.from(`${text}\n`);
  return Buffer.concat([
    line(`<<<<<<< ${labels.ours}`),
    ours,
    line("======="),
    theirs,
    line(`>>>>>>> ${labels.theirs}`),
  ]);
}

const MARKER = /^(?:<{7}|>{7}) /m;

/** Whether a merged file still shows both sides. */
export function hasMarkers(text: string): boolean {
  return MARKER.test(text);
}
