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
import { type Change, entriesIn, type LookOptions, seeUnlocked, type Tree } from "./tree.js";

/**
 * `below` is a look at the base. `skip` and `unlock` are asked about what lies in the upper folder. A folder that is not there too is the base's own
 * with all it holds: whatever is done in a folder of such a tree, the kernel copies the folder up first.
 */
export function lookAtLayers(
  tree: LayeredTree,
  below: Tree,
  { skip, unlock }: Required<Pick<LookOptions, "skip" | "unlock">>,
): Tree {
  const takenMs = Date.now();
  const [folders, others]: [Set<string>, Set<string>] = [new Set([""]), new Set()];
  for (const { path, type } of entriesIn(tree.changes, skip, unlock)) (type === "folder" ? folders : others).add(path);
  const there = namesIn(tree, folders);
  const gone = new Set<string>();
  for (const path of below.entries.keys()) {
    const above = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    // What is no folder any more holds nothing any more.
    const isGone = gone.has(above) || others.has(above) || (folders.has(above) && !there.has(path));
    if (isGone) gone.add(path);
  }
  const entries = new Map(below.entries);
  for (const path of gone) entries.delete(path);
  for (const path of [...folders, ...others]) {
    const entry = there.has(path) ? seeUnlocked(tree.changes, path, unlock) : null;
    if (entry !== null) entries.set(path, entry);
  }
  return { entries, takenMs };
}

/** What the kernel says is in these folders of the tree. */
function namesIn(tree: LayeredTree, folders: Iterable<string>): Set<string> {
  const list = [...folders].map((path) => `./${path}\0`).join("");
  const found = inOverlay(tree, LIST, list).toString("utf8").split("\0");
  return new Set(found.slice(0, -1).map((name) => name.slice("./".length)));
}

const LIST = `xargs -0 -r sh -c 'exec find "$@" -mindepth 1 -maxdepth 1 -print0' sh`;

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
