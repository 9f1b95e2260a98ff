// What a run, or one session of it, changed. Contents are kept by digest while the run can go on, and are in its delivery
// afterwards; whatever is shown is what the journal names, or nothing.
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { isText } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import { RunReader, runFolder, runIds, runsFolder } from "../../run/index.js";
import type { ComparedRow, CountRow, FileDiff } from "../view/model.js";
import { countSides, sideBySide } from "../view/side-by-side.js";

const MOST_BYTES = 1024 ** 2;
const MOST_COUNTED = 3_000;

interface Kept {
  readonly hash: string;
  readonly size: number;
}

interface Changed {
  readonly path: string;
  readonly before: Kept | null;
  readonly after: Kept | null;
}

export class RunChanges {
  readonly #changes: ReadonlyMap<string, Changed>;
  readonly #places: readonly string[];
  readonly #objects: string;

  /** `agent`: of this session only. */
  constructor(root: string, id: string, agent: string) {
    const runs = runsFolder(root);
    if (!runIds(runs).includes(id)) throw missing();
    const { options, state } = new RunReader(runs, id).read();
    const folder = runFolder(runs, id, options?.repo !== undefined);
    const session = agent === "" ? null : state.agents.get(agent);
    if (session === undefined) throw missing();
    // What a session changed is compared when it ends.
    this.#changes = folded(session === null ? state.versions : [session.end?.changes ?? []]);
    this.#objects = folder.objects;
    this.#places = [folder.base, join(folder.delivery, "delivery", "artifacts")];
  }

  rows(): ComparedRow[] {
    return [...this.#changes.values()]
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ path, before, after }) => ({
        path,
        before: before === null ? "" : path,
        after: after === null ? "" : path,
        change: before === null ? "added" : after === null ? "removed" : "changed",
        sizeBefore: before?.size ?? 0,
        sizeAfter: after?.size ?? 0,
        stamp: `${before?.hash.slice(0, 12) ?? ""}:${after?.hash.slice(0, 12) ?? ""}`,
      }));
  }

  counts(): CountRow[] {
    return [...this.#changes.values()].slice(0, MOST_COUNTED).flatMap((change): CountRow[] => {
      const [before, after] = [this.#text(change, "before"), this.#text(change, "after")];
      return before === null || after === null ? [] : [[change.path, ...countSides(before, after)]];
    });
  }

  diff(path: string): FileDiff {
    const change = this.#changes.get(path);
    if (change === undefined) throw missing();
    const [before, after] = [this.#text(change, "before"), this.#text(change, "after")];
    const note = "its contents are not text, too long, or no longer kept";
    return before === null || after === null ? { lines: [], note } : { lines: sideBySide(before, after), note: "" };
  }

  /** The bytes of one side, when they are still there. */
  bytes(path: string, side: "before" | "after"): Buffer | null {
    const kept = this.#changes.get(path)?.[side] ?? null;
    if (kept === null || kept.hash === "" || kept.size > MOST_BYTES) return null;
    const names = [join(this.#objects, kept.hash), ...this.#places.map((place) => join(place, path))];
    for (const name of names) {
      const bytes = readPlain(name, kept.size);
      if (bytes !== null && createHash("sha256").update(bytes).digest("hex") === kept.hash) return bytes;
    }
    return null;
  }

  #text(change: Changed, side: "before" | "after"): string | null {
    if (change[side] === null) return "";
    const bytes = this.bytes(change.path, side);
    return bytes === null || !isText(bytes) ? null : bytes.toString("utf8");
  }
}

interface Version {
  readonly path: string;
  readonly before: (Kept & { readonly type: string }) | null;
  readonly after: (Kept & { readonly type: string }) | null;
}

/** From what each file was first to what it is last. What came and went again did not change. */
function folded(versions: readonly (readonly Version[])[]): Map<string, Changed> {
  const file = (entry: Version["before"]) => (entry?.type === "file" ? entry : null);
  const changes = new Map<string, Changed>();
  for (const { path, before, after } of versions.flat()) {
    const first = changes.has(path) ? changes.get(path)!.before : file(before);
    changes.set(path, { path, before: first, after: file(after) });
  }
  for (const [path, { before, after }] of changes) if (before?.hash === after?.hash) changes.delete(path);
  return changes;
}

/** A file of exactly this size. Wherever its name leads, it is only believed when its digest is the one in the journal. */
function readPlain(path: string, size: number): Buffer | null {
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile() || stats.size !== size) return null;
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(handle, bytes, 0, size, 0));
  } finally {
    closeSync(handle);
  }
}

function missing(): NutError {
  return new NutError("ENTRY_NOT_FOUND", "there is no such change in this run", { hint: "load the page again" });
}
