// What an agent shut is opened again by its owner: nobody hides anything by taking rights away.
import { chmodSync, lstatSync } from "node:fs";
import { onDisk } from "./disk-names.js";

/** Whether its owner may read it now, and go into it when it is a folder. */
export function unlock(path: string): boolean {
  try {
    const disk = onDisk(path);
    const stats = lstatSync(disk);
    // Its rights are those of what it leads to.
    if (stats.isSymbolicLink()) return false;
    chmodSync(disk, (stats.mode & 0o777) | (stats.isDirectory() ? 0o700 : 0o600));
    return true;
  } catch {
    return false;
  }
}
