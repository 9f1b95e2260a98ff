// Reading what a check left behind. Its processes are gone, so nothing moves any more, but what stands there may be
// anything: a link, a pipe, something huge. Only plain files below plain folders are read.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const READ_LIMIT = 64 * 1024 * 1024;
const MOST_FILES = 2_000;

/** null when it is not a plain file in plain folders below `root`, or too large. */
export function readWritten(root: string, path: string): Uint8Array | null {
  if (!isPlainBelow(root, path)) return null;
  const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > READ_LIMIT) return null;
  return readFileSync(join(root, path));
}

/** Names of the files in a folder that end as asked. */
export function listWritten(root: string, folder: string, ending: string): string[] {
  if (!isPlainBelow(root, `${folder}/x`)) return [];
  if (lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(ending))
    .slice(0, MOST_FILES);
}

function isPlainBelow(root: string, path: string): boolean {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return false;
  return parts.slice(0, -1).every((_, index) => {
    const folder = join(root, ...parts.slice(0, index + 1));
    return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  });
}
