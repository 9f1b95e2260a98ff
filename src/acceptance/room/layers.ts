// A tree put together from folders that nobody writes to: which folders, what of them is not there, and where each file
// is on this machine. Making one copies nothing.
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { byBytes } from "../../files/index.js";
import { entriesIn, type Tree } from "../../trees/tree.js";
import type { TreeView } from "../runners/index.js";
import { OverMap } from "./over-map.js";

/** One for all entries of a kind in a folder: a tree has a hundred thousand, and there are several trees. */
export interface Placed {
  readonly type: "file" | "link" | "folder" | "other";
  /** The folder on this machine that has it, under the same path. */
  readonly root: string;
}

/** Where it is on this machine. */
export const placeOf = (path: string, { root }: Placed): string => join(root, path);

export interface Layers {
  /** Folders on this machine, the topmost first. */
  readonly folders: readonly string[];
  /** Paths that lower layers have and the tree has not, none of them below another. */
  readonly removed: readonly string[];
  readonly entries: ReadonlyMap<string, Placed>;
}

/**
 * One folder as a tree of its own. `hides` leaves out what stands in the folder and is no part of the tree. A look at the whole
 * folder saves listing it.
 */
export function layersOf(folder: string, hides: readonly string[] = [], looked?: Tree): Layers {
  const isHidden = (path: string) => hides.includes(path);
  const isKnown = looked?.whole === true && !hides.some((path) => looked.entries.has(path));
  const entries = new Map(isKnown ? placedIn(folder, looked.entries) : listFolder(folder, isHidden));
  const removed = hides.filter((path) => lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined);
  return { folders: [folder], removed, entries };
}

export interface Layer {
  readonly folder: string;
  /** Paths below that go away. */
  readonly removed?: readonly string[];
}

/** The tree with a layer on top. */
export function putOver(layers: Layers, { folder, removed = [] }: Layer): Layers {
  const added = new Map(listFolder(folder));
  const below = layers.entries;
  const gone = removed.filter((path) => goes(path, added));
  // What is no folder any more holds nothing any more.
  const solid = [...added.keys()].filter(
    (path) => added.get(path)!.type !== "folder" && below.get(path)?.type === "folder",
  );
  const entries = new OverMap(below, added, namesBelow(below, [...gone, ...solid]));
  return {
    folders: [folder, ...layers.folders],
    removed: [...layers.removed, ...gone].filter((path) => goes(path, added)),
    entries,
  };
}

/** The tree with some of its files in another version. */
export function putFiles(layers: Layers, folder: string, paths: Iterable<string>): Layers {
  const placed = placedAt(folder);
  const added = new Map<string, Placed>();
  for (const path of paths) {
    for (const above of foldersAbove(path)) if (!layers.entries.has(above)) added.set(above, placed.folder);
    added.set(path, placed.file);
  }
  return { ...layers, folders: [folder, ...layers.folders], entries: new OverMap(layers.entries, added, NONE) };
}

/** What the layer puts there, above it or below it stays: removing it would remove the layer's own, or lead through a link. */
function goes(path: string, added: ReadonlyMap<string, Placed>): boolean {
  if (added.has(path)) return false;
  return foldersAbove(path).every((folder) => (added.get(folder)?.type ?? "folder") === "folder");
}

const NONE: ReadonlySet<string> = new Set();

/** These paths and all that lies below them. */
function namesBelow(entries: ReadonlyMap<string, Placed>, paths: readonly string[]): ReadonlySet<string> {
  if (paths.length === 0) return NONE;
  const gone = new Set(paths);
  const names = new Set<string>();
  for (const path of entries.keys()) {
    if (gone.has(path) || foldersAbove(path).some((folder) => gone.has(folder))) names.add(path);
  }
  return names;
}

type ByType = Readonly<Record<Placed["type"], Placed>>;

function placedAt(root: string): ByType {
  const of = (type: Placed["type"]): Placed => ({ type, root });
  return { file: of("file"), link: of("link"), folder: of("folder"), other: of("other") };
}

function* placedIn(folder: string, entries: Tree["entries"]): Generator<[string, Placed]> {
  const placed = placedAt(folder);
  for (const [path, { type }] of entries) yield [path, placed[type]];
}

function* listFolder(folder: string, skip?: (path: string) => boolean): Generator<[string, Placed]> {
  const placed = placedAt(folder);
  for (const { path, type } of entriesIn(folder, skip)) {
    // In folders that are no part of a result, such as node_modules, a name may be no text.
    if (path.includes("\uFFFD") && lstatSync(join(folder, path), { throwIfNoEntry: false }) === undefined) continue;
    yield [path, placed[type]];
  }
}

function foldersAbove(path: string): string[] {
  const found: string[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) found.push(path.slice(0, at));
  return found;
}

/** Larger files are data, not a text somebody wrote. */
const TEXT_LIMIT = 4 * 1024 * 1024;

/** The tree as runners and controls look at it. Links are not followed. */
export function viewOf({ entries }: Layers, own: Pick<TreeView, "checkers" | "isGuarded"> = {}): TreeView {
  let children: Map<string, string[]> | null = null;
  return {
    exists: (path) => path === "" || entries.has(path),
    read: (path) => {
      const placed = entries.get(path);
      if (placed?.type !== "file" || lstatSync(placeOf(path, placed)).size > TEXT_LIMIT) return null;
      return readFileSync(placeOf(path, placed), "utf8");
    },
    list: (folder) => {
      children ??= childrenOf(entries);
      return children.get(folder) ?? [];
    },
    ...own,
  };
}

function childrenOf(entries: ReadonlyMap<string, Placed>): Map<string, string[]> {
  const children = new Map<string, string[]>();
  for (const [path, { type }] of entries) {
    const cut = path.lastIndexOf("/");
    const [folder, name] = [path.slice(0, Math.max(0, cut)), path.slice(cut + 1)];
    const names = children.get(folder) ?? [];
    names.push(type === "folder" ? `${name}/` : name);
    children.set(folder, names);
  }
  for (const names of children.values()) names.sort(byBytes);
  return children;
}
