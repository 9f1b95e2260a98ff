// Paths as a tree of folders, and the rows of it that are open.
import type { FileTuple } from "../view/model.js";

export interface Folder {
  readonly name: string;
  readonly path: string;
  readonly folders: Folder[];
  readonly files: FileTuple[];
  size: number;
  tokens: number;
  count: number;
  /** How many files below are not as the manifest says. */
  wrong: number;
}

export type TreeRow =
  | { readonly kind: "folder"; readonly folder: Folder; readonly depth: number; readonly open: boolean }
  | { readonly kind: "file"; readonly file: FileTuple; readonly name: string; readonly depth: number };

export const isWrong = (state: string) => state === "differs" || state === "missing" || state === "unlisted";

export function buildTree(rows: readonly FileTuple[]): Folder {
  const root = folder("", "");
  const known = new Map<string, Folder>([["", root]]);
  for (const row of rows) {
    const parent = folderOf(row[0].slice(0, Math.max(0, row[0].lastIndexOf("/"))), known);
    parent.files.push(row);
  }
  total(root);
  return root;
}

function folder(name: string, path: string): Folder {
  return { name, path, folders: [], files: [], size: 0, tokens: 0, count: 0, wrong: 0 };
}

function folderOf(path: string, known: Map<string, Folder>): Folder {
  const found = known.get(path);
  if (found !== undefined) return found;
  const cut = path.lastIndexOf("/");
  const parent = folderOf(path.slice(0, Math.max(0, cut)), known);
  const made = folder(path.slice(cut + 1), path);
  parent.folders.push(made);
  known.set(path, made);
  return made;
}

function total(at: Folder): void {
  for (const inner of at.folders) total(inner);
  const sum = (pick: (inner: Folder) => number, own: (file: FileTuple) => number) =>
    at.folders.reduce((all, inner) => all + pick(inner), 0) + at.files.reduce((all, file) => all + own(file), 0);
  at.size = sum(
    (inner) => inner.size,
    (file) => file[1],
  );
  at.tokens = sum(
    (inner) => inner.tokens,
    (file) => Math.max(0, file[4]),
  );
  at.count = sum(
    (inner) => inner.count,
    () => 1,
  );
  at.wrong = sum(
    (inner) => inner.wrong,
    (file) => (isWrong(file[2]) ? 1 : 0),
  );
}

export function openRows(root: Folder, open: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const visit = (at: Folder, depth: number) => {
    for (const inner of at.folders) {
      const isOpen = open.has(inner.path);
      rows.push({ kind: "folder", folder: inner, depth, open: isOpen });
      if (isOpen) visit(inner, depth + 1);
    }
    for (const file of at.files)
      rows.push({ kind: "file", file, name: file[0].slice(file[0].lastIndexOf("/") + 1), depth });
  };
  visit(root, 0);
  return rows;
}

/** Files whose path holds the words, flat. */
export function foundRows(rows: readonly FileTuple[], words: string): TreeRow[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return rows
    .filter(([path]) => wanted.every((word) => path.toLowerCase().includes(word)))
    .map((file) => ({ kind: "file", file, name: file[0], depth: 0 }));
}

/** Small trees are shown open; of large ones only the way to the wanted file. */
export function firstOpen(root: Folder, wanted: string): Set<string> {
  const open = new Set<string>();
  const add = (at: Folder) => {
    for (const inner of at.folders) {
      if (root.count <= 60 || wanted.startsWith(`${inner.path}/`) || at.folders.length === 1) {
        open.add(inner.path);
        add(inner);
      }
    }
  };
  add(root);
  return open;
}
