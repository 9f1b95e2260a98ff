// What of the tests is compared after a run, where no mount holds it.
import { type Dirent, lstatSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parentsAreFolders, seeEntry, type TreeEntry } from "../../trees/tree.js";
import { isSteering, isTestFile } from "../plan/steering.js";
import { type Layers, placeOf } from "./layers.js";
import type { RoomTree } from "./room-tree.js";

/** What a test makes in its own folder is data; code and settings there were put by somebody else. */
const STEERS_THERE = /\.(?:py|[cm]?[jt]sx?|sh|bash|so|node|mk|toml|ini|cfg)$/;

export function plantedFiles(root: string, { open, layers }: RoomTree): string[] {
  return open.flatMap((folder) =>
    lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() === true
      ? readdirSync(join(root, folder))
          .map((name) => `${folder}/${name}`)
          .filter((path) => !layers.entries.has(path) && (STEERS_THERE.test(path) || isSteering(path)))
      : [],
  );
}

/** What searches and git leave out, by the folder it stands in. */
const LISTS = [".ignore", ".rgignore", ".fdignore", ".gitignore", ".gitattributes"];

/** Nobody writes longer ones. */
const LIST_LIMIT = 1024 * 1024;

/** The same in a repository that was made in the room. */
const OF_GIT = ["info/exclude", "info/attributes", "info/grafts"];

/**
 * Lists that were written while a check ran: the work was run before what reads them. Such a check looks for what should not be
 * there, and no expectation shows that it did not look. What the tests speak of they write themselves.
 */
export function plantedLists(root: string, { layers, view, guarded }: RoomTree): string[] {
  const isSpokenOf = (path: string) =>
    guarded.filter(isTestFile).some((test) => view.read(test)?.includes(basename(path)) === true);
  return listsBelow(root, "", layers).filter((path) => saysSomething(join(root, path)) && !isSpokenOf(path));
}

/** In folders that were there before: what a tool makes for itself has lists of its own. */
function listsBelow(root: string, folder: string, layers: Layers): string[] {
  return namesIn(join(root, folder)).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (entry.isFile()) return LISTS.includes(entry.name) && !layers.entries.has(path) ? [path] : [];
    if (!entry.isDirectory()) return [];
    if (entry.name === ".git")
      return OF_GIT.map((name) => `${path}/${name}`).filter((list) => parentsAreFolders(root, list));
    const isBefore = layers.entries.get(path)?.type === "folder" && entry.name !== "node_modules";
    return isBefore ? listsBelow(root, `${path}/`, layers) : [];
  });
}

/** A folder that cannot be read, or was never written to, shows nothing. */
function namesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Of a new repository git writes such files itself, with nothing but comments in them. */
function saysSomething(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true) return false;
  if (found.size > LIST_LIMIT) return true;
  return readFileSync(path, "utf8")
    .split("\n")
    .some((line) => line.trim() !== "" && !line.startsWith("#"));
}

type Guards = ReadonlyMap<string, TreeEntry | null>;

/** What is compared afterwards: all guarded files where nothing holds them, else those no mount holds. */
export function guardsBefore({ cover, guarded, layers }: RoomTree, sandboxed: boolean, copy: string | null): Guards {
  const paths = sandboxed ? cover.compared : guarded;
  return new Map(
    paths.map((path) => [path, seeEntry(copy === null ? placeOf(path, layers.entries.get(path)!) : join(copy, path))]),
  );
}

/** In an overlay only what was written is there. */
export function isChanged(path: string, entry: TreeEntry | null, layered: boolean): boolean {
  const now = seeEntry(path);
  if (now === null) return !layered;
  return entry === null || now.type !== entry.type || now.hash !== entry.hash;
}
