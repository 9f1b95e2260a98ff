// A tree that is one folder over another (decision 0370). What an agent changed in it is what lies in the upper folder, by the
// kernel's own doing: stamps, sizes and inodes say nothing here, so nobody can lie with them. Which paths are there at all is
// asked of the kernel too.
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { removeFolder } from "../files/index.js";
import { inOverlay, type LayeredTree, layerFolders, overlayPlace } from "../process/index.js";
import { type GitFacts, gitFacts } from "./git-facts.js";
import type { Objects } from "./objects.js";
import { type Change, pathsIn, seeEntry, type Tree, type TreeEntry } from "./tree.js";

/** `below` is a look at the base. `skip` is asked about what lies in the upper folder. */
export function lookAtLayers(tree: LayeredTree, below: Tree, skip: (path: string) => boolean): Tree {
  const takenMs = Date.now();
  const there = namesIn(tree);
  const entries = new Map<string, TreeEntry>();
  for (const [path, entry] of below.entries) if (there.has(path)) entries.set(path, entry);
  for (const path of pathsIn(tree.changes, skip)) {
    const entry = there.has(path) ? seeEntry(join(tree.changes, path)) : null;
    if (entry !== null) entries.set(path, entry);
  }
  return { entries, takenMs };
}

/** Folders that no result holds are left out: they may be as large as they like. */
const LIST = "find . -mindepth 1 '(' -name .git -o -name node_modules ')' -prune -o -print0";

const namesIn = (tree: LayeredTree): Set<string> =>
  new Set(
    inOverlay(tree, LIST)
      .toString("utf8")
      .split("\0")
      .map((name) => name.slice("./".length)),
  );

/** Makes the tree, which now is `now`, hold what the changes say. Everything goes through the kernel's own view of it. */
export function applyToLayers(tree: LayeredTree, now: Tree, changes: readonly Change[], objects: Objects): void {
  if (changes.length === 0) return;
  const [stage, added] = [`${tree.changes}.stage`, changes.filter(({ after }) => after !== null)];
  removeFolder(stage);
  mkdirSync(stage);
  objects.apply(stage, added);
  try {
    // Only what is there now, so that no step of a path is a link.
    const gone = changes.filter(({ path, after }) => {
      const entry = now.entries.get(path);
      return entry !== undefined && (after === null || after.type !== entry.type || entry.type === "link");
    });
    const list = gone.map(({ path }) => `./${path}\0`).join("");
    inOverlay(tree, `xargs -0 -r rm -rf -- && ${COPY.replace("STAGE", quoted(stage))}`, list);
  } finally {
    removeFolder(stage);
  }
}

const COPY = "cp -R -P --preserve=mode --remove-destination -- STAGE/. .";

const quoted = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;

/** What of .git is looked at: see gitFacts. */
const GIT_PARTS = "HEAD packed-refs refs config config.worktree hooks info modules objects/info";

export function layeredGitFacts(tree: LayeredTree): GitFacts | null {
  const own = lstatSync(join(tree.changes, ".git"), { throwIfNoEntry: false });
  if (own === undefined) return gitFacts(tree.base);
  const stage = `${tree.changes}.stage`;
  removeFolder(stage);
  mkdirSync(stage);
  try {
    const copy = `mkdir -p "$o/$(dirname "$p")" && cp -R -P --preserve=mode -- ".git/$p" "$o/$p" || exit 1`;
    const parts = `for p in ${GIT_PARTS}; do if [ -e ".git/$p" ] || [ -L ".git/$p" ]; then ${copy}; fi; done`;
    inOverlay(tree, `o=${quoted(join(stage, ".git"))}; [ ! -d .git ] || [ -L .git ] || { mkdir "$o"; ${parts}; }`);
    return gitFacts(stage);
  } finally {
    removeFolder(stage);
  }
}

/** A folder of changes that is whole: made by us, not taken apart, and since the machine was started: see overlayWords. */
export function isLayer(changes: string, startedMs = Date.now() - uptime() * 1_000): boolean {
  if (!layerFolders(changes).every((folder) => existsSync(folder))) return false;
  return lstatSync(overlayPlace(changes)).ctimeMs > startedMs;
}

export function makeLayer(changes: string): void {
  for (const folder of layerFolders(changes)) mkdirSync(folder, { recursive: true });
}

export function removeLayer(changes: string): void {
  for (const folder of [...layerFolders(changes), `${changes}.stage`]) removeFolder(folder);
}
