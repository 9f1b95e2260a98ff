// Which project a folder belongs to. Folders above may be shared with other users, who could put a `.git` or a `.nexus`
// there and so make themselves the owner of our state and configuration: only marks of this user, or of root, are believed.
import { lstatSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Env } from "./layout.js";

/** What the search asks of a disk. */
export interface Disk {
  /** The user we run as; undefined where there are no numbers for users. */
  readonly user: number | undefined;
  /** null when there is nothing. Links are followed for `folder` only. */
  look(path: string): { readonly owner: number; readonly device: number; readonly folder: boolean } | null;
}

const DISK: Disk = {
  user: process.getuid?.(),
  look(path) {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined) return null;
    const folder = entry.isDirectory() || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    return { owner: entry.uid, device: entry.dev, folder };
  },
};

/**
 * The nearest folder at or above `cwd` that has a `.nexus`, but never past a work tree's own top: a linked work tree inside
 * another repository has a state of its own. Without either, `cwd` itself.
 */
export function findRoot(cwd: string, env: Env = {}, disk: Disk = DISK): string {
  const given = env.NEXUS_PROJECT_DIR;
  if (given !== undefined && given !== "") return resolve(cwd, given);
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
