// Giving a finished file its name when nobody else has it: of two who want the same one, a single one gets it.
import { closeSync, linkSync, openSync, rmSync } from "node:fs";
import { isSystemError } from "../errors.js";
import { renameOver } from "./rename-over.js";

/** Moves `temporary` to `path`; false, and nothing is changed, when the name is taken. */
export function takeName(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === "EEXIST") return false;
    if (!NO_LINKS.has(error.code ?? "")) throw error;
    return reserve(temporary, path);
  }
  rmSync(temporary);
  return true;
}

/** What file systems without second names answer. */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** An empty file, which one of two can make, is replaced by its maker. */
function reserve(temporary: string, path: string): boolean {
  try {
    closeSync(openSync(path, "wx"));
  } catch (error) {
    if (isSystemError(error) && error.code === "EEXIST") return false;
    throw error;
  }
  try {
    renameOver(temporary, path);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
  return true;
}
