// Changed files as a tree of folders, each with what was added and removed below it.
import type { ComparedRow } from "../../view/model.js";

export interface Counted {
  readonly added: number;
  readonly removed: number;
}

export type ChangeRow =
  | {
      readonly kind: "folder";
      readonly path: string;
      readonly name: string;
      readonly depth: number;
      readonly isOpen: boolean;
      readonly counted: Counted | null;
    }
  | { readonly kind: "file"; readonly row: ComparedRow; readonly name: string; readonly depth: number };

interface Folder {
  readonly path: string;
  readonly name: string;
  readonly folders: Map<string, Folder>;
  readonly files: ComparedRow[];
}

export type Counts = ReadonlyMap<string, Counted>;

export function changeRows(files: readonly ComparedRow[], closed: ReadonlySet<string>, counts: Counts): ChangeRow[] {
  const root: Folder = { path: "", name: "", folders: new Map(), files: [] };
  for (const file of files) folderOf(root, file.path).files.push(file);
  const rows: ChangeRow[] = [];
  const visit = (folder: Folder, depth: number) => {
    for (const inner of folder.folders.values()) {
      const shown = alone(inner, inner.name);
      const isOpen = !closed.has(shown.folder.path);
      const { path } = shown.folder;
      rows.push({ kind: "folder", path, name: shown.name, depth, isOpen, counted: total(shown.folder, counts) });
      if (isOpen) visit(shown.folder, depth + 1);
    }
    for (const row of folder.files)
      rows.push({ kind: "file", row, name: row.path.slice(row.path.lastIndexOf("/") + 1), depth });
  };
  visit(root, 0);
  return rows;
}

function folderOf(root: Folder, file: string): Folder {
  let at = root;
  for (const name of file.split("/").slice(0, -1)) {
    const path = at.path === "" ? name : `${at.path}/${name}`;
    const next = at.folders.get(name) ?? { path, name, folders: new Map(), files: [] };
    at.folders.set(name, next);
    at = next;
  }
  return at;
}

/** Folders that hold one folder and nothing else stand on one line: src/web/page. */
function alone(folder: Folder, name: string): { readonly folder: Folder; readonly name: string } {
  const [only] = folder.folders.values();
  if (folder.files.length > 0 || folder.folders.size !== 1 || only === undefined) return { folder, name };
  return alone(only, `${name}/${only.name}`);
}

/** null as long as one of them is not counted. */
function total(folder: Folder, counts: Counts): Counted | null {
  let [added, removed] = [0, 0];
  const parts = [
    ...[...folder.folders.values()].map((inner) => total(inner, counts)),
    ...folder.files.map(({ path }) => counts.get(path) ?? null),
  ];
  for (const part of parts) {
    if (part === null) return null;
    added += part.added;
    removed += part.removed;
  }
  return { added, removed };
}
