// Installations that were made on this machine, each under the digest of all it was made of. They lie in this account's cache,
// outside every project and every sandbox: nobody who works for a request can write there. An entry appears whole or not at
// all, and one process at a time makes it.
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, utimesSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { NutError } from "../../errors.js";
import { makeFolder, removeFolder, temporaryName } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { sweepLeftovers } from "../../process/index.js";
import { openLock } from "../../state/index.js";
import { hasHome, homeOf } from "../vault/keys.js";

/** Unused for this long, an installation is removed when another is made. */
const OLDEST_MS = 30 * 86_400_000;
const ASK_AGAIN_MS = 200;

/** null without a home to keep anything in. */
export function installCache(env: Context["env"]): string | null {
  const cache = env.XDG_CACHE_HOME ?? "";
  if (isAbsolute(cache)) return join(cache, "nutshell", "install");
  return hasHome(env) ? join(homeOf(env), ".cache", "nutshell", "install") : null;
}

/** The folder of an entry's tree; null when nobody has made it yet. */
export function findEntry(key: string, context: Context): string | null {
  const folder = join(cacheOf(context), key);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  const now = context.now();
  utimesSync(folder, now, now);
  return join(folder, "tree");
}

/** To the kernel's lock one process is one holder. */
const making = new Map<string, Promise<string>>();

/** Makes an entry, unless somebody else does so meanwhile. `make` fills an empty folder. */
export function makeEntry(key: string, make: (folder: string) => Promise<void>, context: Context): Promise<string> {
  const place = join(cacheOf(context), key);
  const made = making.get(place) ?? makeAlone(key, make, context).finally(() => making.delete(place));
  making.set(place, made);
  return made;
}

async function makeAlone(key: string, make: (folder: string) => Promise<void>, context: Context): Promise<string> {
  const root = cacheOf(context);
  const lock = openLock(join(root, `${key}.lock`));
  while (!lock.tryAcquire()) {
    context.signal.throwIfAborted();
    await setTimeout(ASK_AGAIN_MS);
  }
  try {
    const known = findEntry(key, context);
    if (known !== null) return known;
    sweep(root, context.now());
    const folder = temporaryName(join(root, key));
    mkdirSync(folder, { mode: 0o700 });
    try {
      await make(folder);
      renameSync(folder, join(root, key));
    } catch (error) {
      removeFolder(folder);
      throw error;
    }
    return findEntry(key, context)!;
  } finally {
    lock.release();
  }
}

function cacheOf({ env }: Context): string {
  const folder = installCache(env);
  if (folder === null) {
    throw new NutError("INSTALL_FAILED", "there is no home to keep what is installed in", {
      hint: "export XDG_CACHE_HOME='<folder>'",
    });
  }
  makeFolder(folder, 0o700);
  const { uid, mode } = lstatSync(folder);
  if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) {
    throw new NutError("INSTALL_FAILED", `${folder} can be written by others, so nothing is kept there`, {
      hint: `chmod 700 ${folder}`,
      data: { path: folder },
    });
  }
  return folder;
}

/** What killed processes left, and what nobody used for long. */
function sweep(root: string, now: Date): void {
  sweepLeftovers(root);
  for (const name of readdirSync(root)) {
    const path = join(root, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() !== true || now.getTime() - stat.mtimeMs < OLDEST_MS) continue;
    removeFolder(path);
    rmSync(`${path}.lock`, { force: true });
  }
}

/** How many there are, and in which folder. */
export function countEntries(env: Context["env"]): { readonly folder: string; readonly count: number } | null {
  const folder = installCache(env);
  if (folder === null || !existsSync(folder)) return null;
  const count = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith("."),
  ).length;
  return { folder, count };
}
