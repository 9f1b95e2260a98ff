// Two bundles beside each other. When the second answers the first, its artifacts are laid over the request's files:
// what a person wants to see is the change to their code, not that a folder has another name.
import type { ComparedRow, Comparison, FileTuple } from "./model.js";
import { type Loose, line, object } from "./safe-text.js";

export interface Compared {
  readonly manifest: object;
  readonly rows: readonly FileTuple[];
}

const ARTIFACTS = "delivery/artifacts/";

/** Stands before the path of a file that is in the repository the work began with. No bundle holds such a name. */
export const IN_BASE = "/base/";

/** `base` are the sizes of the files the work began with, by path, where they are known. */
export function compare(before: Compared, after: Compared, base: ReadonlyMap<string, number> = new Map()): Comparison {
  const isAnswer =
    (after.manifest as Loose).bundle_type === "delivery" && (before.manifest as Loose).bundle_type !== "delivery";
  const files = isAnswer ? answered(before, after, base) : changed(before.rows, after.rows);
  const kept = new Set(before.rows.map(([path]) => path));
  const touched = new Set(files.map(({ before: path }) => path));
  return {
    isAnswer,
    files,
    fields: isAnswer ? [] : fieldChanges(before.manifest as Loose, after.manifest as Loose),
    same: [...kept].filter((path) => !touched.has(path)).length,
  };
}

function changed(before: readonly FileTuple[], after: readonly FileTuple[]): ComparedRow[] {
  const left = new Map(before.map((row) => [row[0], row]));
  const right = new Map(after.map((row) => [row[0], row]));
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort();
  return paths.flatMap((path) => row(path, known(left.get(path)), known(right.get(path))));
}

/** Artifacts against the file of the same name; a file of the request that nobody touched is not a removal. */
function answered(before: Compared, after: Compared, base: ReadonlyMap<string, number>): ComparedRow[] {
  const own = new Map(before.rows.map((row) => [row[0], row]));
  const left = {
    get: (name: string): Known | undefined => {
      const size = base.get(name);
      if (size !== undefined) return { path: `${IN_BASE}${name}`, size, hash: "" };
      return known(own.get(name) ?? own.get(`files/${name}`));
    },
  };
  const said = object(object((after.manifest as Loose).artifacts));
  const named = (list: unknown) =>
    (Array.isArray(list) ? list : []).map((item) => line(object(item).path).replace(ARTIFACTS, ""));
  const wasThere = new Set(named(said.files_modified));
  const rows = after.rows
    .filter(([path]) => path.startsWith(ARTIFACTS))
    .flatMap((artifact) => {
      const name = artifact[0].slice(ARTIFACTS.length);
      const found = row(name, left.get(name), known(artifact));
      // Of work in a repository the request does not hold what was there before; the delivery says that it was.
      return found.map((each) =>
        each.change === "added" && wasThere.has(name) ? { ...each, change: "changed" as const } : each,
      );
    });
  for (const name of named(said.files_deleted)) {
    const gone = left.get(name);
    if (gone !== undefined) rows.push(...row(name, gone, undefined));
  }
  return rows.sort((a, b) => (a.path < b.path ? -1 : 1));
}

interface Known {
  readonly path: string;
  readonly size: number;
  readonly hash: string;
}

const known = (row: FileTuple | undefined): Known | undefined =>
  row === undefined ? undefined : { path: row[0], size: row[1], hash: row[5] };

function row(path: string, left: Known | undefined, right: Known | undefined): ComparedRow[] {
  if (left !== undefined && right !== undefined && left.hash === right.hash) return [];
  return [
    {
      path,
      before: left?.path ?? "",
      after: right?.path ?? "",
      change: left === undefined ? "added" : right === undefined ? "removed" : "changed",
      sizeBefore: left?.size ?? 0,
      sizeAfter: right?.size ?? 0,
      stamp: [left, right].map((each) => each?.hash.slice(-12) || (each?.size ?? "")).join(":"),
    },
  ];
}

/** Computed by pack, or different in every bundle there is. */
const NOT_COMPARED = new Set(["files", "compression", "completeness", "id", "created_at"]);

function fieldChanges(before: Loose, after: Loose): { field: string; before: string; after: string }[] {
  const left = flat(before);
  const right = flat(after);
  const names = [...new Set([...left.keys(), ...right.keys()])];
  return names
    .filter((field) => left.get(field) !== right.get(field))
    .map((field) => ({ field, before: left.get(field) ?? "", after: right.get(field) ?? "" }));
}

function flat(manifest: Loose): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(manifest)) {
    if (NOT_COMPARED.has(name)) continue;
    const inner = Object.entries(object(value));
    if (inner.length === 0) found.set(name, line(value));
    else for (const [key, part] of inner) found.set(`${name}.${key}`, line(part));
  }
  return found;
}
