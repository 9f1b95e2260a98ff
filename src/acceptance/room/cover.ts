// Which mounts keep the tests of a room as they are. A folder of tests is one mount. A single file in a folder that is not
// the tests' own is one too, and then every folder above it is also a mount: a folder that holds a mount could otherwise
// be renamed away, and another put in its place.
import { foldersAbove as foldersWith } from "../../files/index.js";

export interface Cover {
  /** Folders that are bound onto themselves, outermost first. */
  readonly anchors: readonly string[];
  /** Files and folders that become read-only. */
  readonly frozen: readonly string[];
  /** Files that are only compared afterwards, because mounts have a price. */
  readonly compared: readonly string[];
}

/** More mounts than this make starting a room slow. */
export const MAX_MOUNTS = 300;

/**
 * `files` are all paths of the tree; `isGuarded` says which may not change while a check runs; `open` are folders in which
 * tests make files of their own, so that their files are held one by one.
 */
export function coverOf(
  files: Iterable<string>,
  isGuarded: (path: string) => boolean,
  { limit = MAX_MOUNTS, open = [] }: { readonly limit?: number; readonly open?: readonly string[] } = {},
): Cover {
  const root = newFolder();
  const others: string[] = open.map((path) => `${path}/`);
  // Of a large tree few files are tests: only they are sorted into folders.
  for (const path of files) {
    if (isGuarded(path)) add(root, path);
    else others.push(path);
  }
  const frozen: string[] = [];
  collect(root, "", foldersWith(others), frozen);
  // Folders first: they hold the most tests for one mount.
  const isFolder = (path: string) => find(root, path) !== null;
  const ordered = [...frozen.filter(isFolder), ...frozen.filter((path) => !isFolder(path))];
  const anchors = new Set<string>();
  const kept: string[] = [];
  const compared: string[] = [];
  for (const path of ordered) {
    const above = foldersAbove(path).filter((folder) => !anchors.has(folder));
    if (kept.length + anchors.size + above.length + 1 > limit) compared.push(path);
    else {
      for (const folder of above) anchors.add(folder);
      kept.push(path);
    }
  }
  const byDepth = (a: string, b: string) => a.split("/").length - b.split("/").length;
  return { anchors: [...anchors].sort(byDepth), frozen: kept, compared };
}

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly guarded: string[];
}

const newFolder = (): Folder => ({ folders: new Map(), guarded: [] });

function add(root: Folder, path: string): void {
  const parts = path.split("/");
  const name = parts.pop()!;
  let folder = root;
  for (const part of parts) {
    let next = folder.folders.get(part);
    if (next === undefined) {
      next = newFolder();
      folder.folders.set(part, next);
    }
    folder = next;
  }
  folder.guarded.push(name);
}

/** `mixed` are the folders that also hold, however deep, what may change. */
function collect(folder: Folder, path: string, mixed: ReadonlySet<string>, frozen: string[]): void {
  const inside = (name: string) => (path === "" ? name : `${path}/${name}`);
  for (const name of folder.guarded) frozen.push(inside(name));
  for (const [name, inner] of folder.folders) {
    if (mixed.has(inside(name))) collect(inner, inside(name), mixed, frozen);
    else frozen.push(inside(name));
  }
}

function find(root: Folder, path: string): Folder | null {
  let folder: Folder | undefined = root;
  for (const part of path.split("/")) folder = folder?.folders.get(part);
  return folder ?? null;
}

function foldersAbove(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
