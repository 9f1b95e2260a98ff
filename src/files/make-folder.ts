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
  let again = 0;
  try {
    for (let next = missing.at(-1); next !== undefined; next = missing.at(-1)) {
      const outcome = makeOne(next, mode);
      if (outcome === "nothing above") missing.push(dirname(next));
      // Somebody else made it between our two looks.
      else if (outcome === "above by now" && again < MOST_AGAIN) again += 1;
      else if (outcome === "above by now") throw gone(next);
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

const gone = (path: string) =>
  Object.assign(new Error(`ENOENT: no such file or directory, mkdir '${path}'`), {
    code: "ENOENT",
    syscall: "mkdir",
    path,
  });

function makeOne(path: string, mode: number): "made" | "there" | "nothing above" | "above by now" {
  try {
    mkdirSync(path, { mode });
    return "made";
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === "ENOENT" && dirname(path) !== path)
      return isThere(dirname(path)) ? "above by now" : "nothing above";
    if (isThere(path)) return "there";
    throw error;
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
