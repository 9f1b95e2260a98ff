// Folders somebody else filled, as deep, closed and oddly named as they liked.
import { chmodSync, lstatSync, renameSync, rmSync } from "node:fs";
import { isSystemError } from "../errors.js";
import { type RawEntry, rawEntries } from "./raw-entries.js";

/** Below this every system call takes the path. */
const LONGEST_PATH = 1_000;

/** Removes a folder with all that is in it, links as links. Nothing happens when it is not there. */
export function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // Too deep to name, or closed by whoever made it.
    walk(path, () => {});
    rmSync(path, { recursive: true, force: true });
  }
}

/** Leaves plain files and folders only: no links, no devices, no file that has a second name. Returns how many went. */
export function sweepFolder(path: string): number {
  let removed = 0;
  walk(path, (entry) => {
    const stat = lstatSync(entry);
    if (stat.isFile() && stat.nlink === 1) return;
    rmSync(entry, { force: true });
    removed += 1;
  });
  return removed;
}

/** Meets everything that is no folder. What lies too deep to be named is brought up to the top first. */
function walk(root: string, meet: (path: Buffer) => void): void {
  const top = Buffer.from(`${root}/`);
  const waiting: Buffer[] = [top];
  let lifted = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = Buffer.concat([folder, entry.name]);
      if (!entry.isDirectory()) meet(path);
      else if (path.length < top.length + LONGEST_PATH) waiting.push(Buffer.concat([path, SLASH]));
      else {
        lifted += 1;
        const place = Buffer.concat([top, Buffer.from(`.nut-lifted-${process.pid}-${lifted}`)]);
        renameSync(path, place);
        waiting.push(Buffer.concat([place, SLASH]));
      }
    }
  }
}

const SLASH = Buffer.from("/");

function entriesOf(folder: Buffer): RawEntry[] {
  if ((lstatSync(folder).mode & 0o700) !== 0o700) chmodSync(folder, 0o700);
  return rawEntries(folder);
}
