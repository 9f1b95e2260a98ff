// Which project a folder belongs to. Folders above may be shared with other users, who could put a `.git` or a `.nexus`
// there and so make themselves the owner of our state and configuration: only marks of this user, or of root, are believed.
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Env } from "./layout.js";

/** What the search asks of a disk. */
export interface Disk {
  /** The user we run as; undefined where there are no numbers for users. */
  readonly user: number | undefined;
  /** null when there is nothing. Links are followed for `folder` only. */
  look(path: string): { readonly owner: number; readonly device: number; readonly folder: boolean } | null;
  /** Of a small file; undefined when there is none. */
  text(path: string): string | undefined;
  /** What is in a folder; nothing when there is none. */
  names(path: string): string[];
}

const DISK: Disk = {
  user: process.getuid?.(),
  look(path) {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined) return null;
    const folder = entry.isDirectory() || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    return { owner: entry.uid, device: entry.dev, folder };
  },
  text(path) {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, "utf8") : undefined;
  },
  names(path) {
    return existsSync(path) ? readdirSync(path) : [];
  },
};

/** Where the state of a project is: its top, and for a linked work tree the top of the work tree it was made from. */
export function findRoot(cwd: string, env: Env = {}, disk: Disk = DISK): string {
  const given = env.NEXUS_PROJECT_DIR;
  if (given !== undefined && given !== "") return resolve(cwd, given);
  const top = findTop(cwd, env, disk);
  return mainOf(top, disk) ?? top;
}

/**
 * The top of the work tree a folder belongs to: the nearest folder at or above `cwd` that has a `.nexus`, but never past a
 * work tree's own top. Without either, `cwd` itself.
 */
export function findTop(cwd: string, env: Env = {}, disk: Disk = DISK): string {
  const start = resolve(cwd);
  for (const folder of foldersUp(start, env, disk)) {
    const marks = [disk.look(join(folder, ".git")), nexusFolder(folder, disk)].filter((mark) => mark !== null);
    // Who works in a folder has chosen it, whoever made it.
    if (marks.some(({ owner }) => folder === start || isOurs(owner, disk))) return folder;
  }
  return start;
}

function nexusFolder(folder: string, disk: Disk) {
  const entry = disk.look(join(folder, ".nexus"));
  return entry?.folder === true ? entry : null;
}

/** From a folder upwards, as far as anything can be ours: not past the home's parent, nor past a mount of somebody else's. */
export function* foldersUp(start: string, { HOME }: Env, disk: Disk = DISK): Generator<string> {
  const last = HOME === undefined || HOME === "" ? null : dirname(resolve(HOME));
  for (let at = start; ; at = dirname(at)) {
    yield at;
    const above = dirname(at);
    if (above === at || at === last || isForeignMount(at, above, disk)) return;
  }
}

function isForeignMount(at: string, above: string, disk: Disk): boolean {
  const [inner, outer] = [disk.look(at), disk.look(above)];
  if (inner === null || outer === null || inner.device === outer.device) return false;
  return !isOurs(inner.owner, disk) || !isOurs(outer.owner, disk);
}

/** A mark of ours or of root's. */
export function isOurs(owner: number, { user }: Disk = DISK): boolean {
  return user === undefined || owner === user || owner === 0;
}

/** Where linked work trees are entered in the repository they were made from. */
const LINKED = ".git/worktrees";

/**
 * The work tree a linked one was made from; null when `top` is none, or when its entry there does not name it in turn: a
 * `.git` file alone could claim to belong to anything.
 */
function mainOf(top: string, disk: Disk): string | null {
  const target = disk.text(join(top, ".git"))?.match(/^gitdir: (.+)$/m)?.[1];
  const entry = target === undefined ? null : resolve(top, target);
  const main = entry === null ? null : dirname(dirname(dirname(entry)));
  if (entry === null || main === null || dirname(entry) !== join(main, LINKED)) return null;
  const named = disk.text(join(entry, "gitdir"))?.trim();
  const look = disk.look(join(main, ".git"));
  const isEntered = named !== undefined && resolve(entry, named) === join(top, ".git");
  return isEntered && look?.folder === true && isOurs(look.owner, disk) ? main : null;
}

/** The linked work trees of a project that are there. */
export function linkedTrees(root: string, disk: Disk = DISK): string[] {
  return disk.names(join(root, LINKED)).flatMap((name) => {
    const named = disk.text(join(root, LINKED, name, "gitdir"))?.trim();
    const top = named === undefined ? null : dirname(resolve(root, LINKED, name, named));
    return top !== null && mainOf(top, disk) === root ? [top] : [];
  });
}
