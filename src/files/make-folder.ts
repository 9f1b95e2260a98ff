import { mkdirSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError } from "../errors.js";

/**
 * Makes a folder and those above it, one by one: Node's own way calls a full disk "no such file". Returns the outermost
 * that was made, null when all were there; leaves none when it cannot make all.
 */
export function makeFolder(path: string): string | null {
  try {
    mkdirSync(path);
    return path;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === "EEXIST" && statSync(path).isDirectory()) return null;
    if (error.code !== "ENOENT" || dirname(path) === path) throw error;
  }
  const made = makeFolder(dirname(path));
  try {
    mkdirSync(path);
    return made ?? path;
  } catch (error) {
    if (made !== null) rmSync(made, { recursive: true, force: true });
    throw error;
  }
}
