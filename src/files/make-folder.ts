import { mkdirSync, rmdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError } from "../errors.js";

/**
 * Makes a folder and those above it, one by one: Node's own way calls a quota that is used up, a read-only disk and a broken
 * one "no such file". Returns the outermost that was made, null when all were there; leaves none when it cannot make all.
 * Others may make the same folders at the same time.
 */
export function makeFolder(path: string, mode = 0o777): string | null {
  if (isThere(path)) return null;
  const made: string[] = [];
  const missing = [path];
  try {
    for (let next = missing.at(-1); next !== undefined; next = missing.at(-1)) {
      const outcome = makeOne(next, mode);
      if (outcome === "nothing above") missing.push(dirname(next));
      else missing.pop();
      if (outcome === "made") made.push(next);
    }
    return made[0] ?? null;
  } catch (error) {
    for (const folder of made.reverse()) removeEmpty(folder);
    throw error;
  }
}

const MOST_AGAIN = 20;

function makeOne(path: string, mode: number): "made" | "there" | "nothing above" {
  for (let left = MOST_AGAIN; ; left -= 1) {
    try {
      mkdirSync(path, { mode });
      return "made";
    } catch (error) {
      if (!isSystemError(error)) throw error;
      const isNothingAbove = error.code === "ENOENT" && dirname(path) !== path;
      if (isNothingAbove && !isThere(dirname(path))) return "nothing above";
      if (isThere(path)) return "there";
      // Somebody else made what is above between our two looks.
      if (!isNothingAbove || left === 0) throw error;
    }
  }
}

const isThere = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Takes back a folder that was made; never throws. */
export function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody else has put something there, or the disk takes nothing any more: the first error is the one to tell.
  }
}
