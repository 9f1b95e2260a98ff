// What was installed for the tree an agent works in, put at its place there: read-only where a sandbox holds the agent, else a
// copy of its own. Nothing an agent does reaches what it was taken from.
import { cpSync, existsSync } from "node:fs";
import { join, posix } from "node:path";
import { makeInside } from "../files/index.js";
import type { Mount } from "../process/index.js";
import type { InstalledFolder } from "../trees/installed.js";
import { parentsAreFolders } from "../trees/tree.js";
import type { SessionRequest } from "./driver.js";

/** How much a program may keep in a cache there, in memory. */
const CACHE_BYTES = 1024 ** 3;

type Place = Pick<SessionRequest, "cwd" | "over" | "installed">;

export function installedMounts(place: Place): Mount[] {
  const { cwd, installed } = place;
  const folders = standing(place);
  // A mount needs something to stand on; what is no part of any work is removed with the rest of it.
  for (const { path } of folders) makeInside(cwd, path);
  return folders.flatMap(({ path, from, caches }): Mount[] => [
    { access: "read-only", path: join(cwd, path), from },
    { access: "read-only", path: posix.join(installed!.place, path), from },
    ...caches.map((name): Mount => ({ access: "hidden", path: join(cwd, path, name), maxBytes: CACHE_BYTES })),
  ]);
}

/** Without a sandbox: a copy that the agent may spoil for itself. */
export function copyInstalled(place: Place): void {
  for (const { path, from } of standing(place)) {
    const target = join(place.cwd, path);
    if (!existsSync(target)) cpSync(from, target, { recursive: true, verbatimSymlinks: true });
  }
}

/** Those whose folder is still there: an agent may have taken it away, or put a link in its place. */
const standing = ({ cwd, over, installed }: Place): readonly InstalledFolder[] =>
  (installed?.folders ?? []).filter(({ path }) => parentsAreFolders(cwd, path, over));
