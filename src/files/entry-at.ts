import { lstatSync, type Stats } from "node:fs";
import { isSystemError } from "../errors.js";

/** What lies at a path, links not followed; undefined also below what is no folder, where Node 20 throws. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}
