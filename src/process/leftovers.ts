// Temporary files and folders of ours that a killed process left behind.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { TEMP_MARK } from "../files/index.js";
import { isAlive } from "./is-alive.js";

/** Removes them from a folder: only names we give, and only those of processes that are gone. Never throws. */
export function sweepLeftovers(folder: string): void {
  for (const name of namesIn(folder)) {
    const owner = LEFTOVER.exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    try {
      rmSync(join(folder, name), { recursive: true, force: true });
    } catch {
      // Somebody else's, or being swept already.
    }
  }
}

const LEFTOVER = new RegExp(`^\\..+${TEMP_MARK.replaceAll(".", "\\.")}(\\d+)-\\d+$`);

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
