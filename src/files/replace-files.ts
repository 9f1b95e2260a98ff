// Replacing several files, or none: everything is written beside its place first, and what was put in place before
// something failed is taken back.
import { linkSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError } from "../errors.js";
import { syncFolder, temporaryName, writeBeside } from "./atomic-write.js";
import { makeFolder } from "./make-folder.js";
import { renameOver } from "./rename-over.js";

export interface FileWrite {
  readonly path: string;
  readonly data: string | Uint8Array;
  readonly mode?: number;
}

/** Writes all of them, durably, or throws the system's error and leaves what was there before. */
export function replaceFiles(writes: readonly FileWrite[]): void {
  const staged: { readonly path: string; readonly temporary: string }[] = [];
  try {
    for (const { path, data, mode } of writes) staged.push({ path, temporary: writeBeside(path, data, { mode }) });
    placeFiles(staged);
  } catch (error) {
    for (const { temporary } of staged) discard(temporary);
    throw error;
  }
}

/** The same where the folder of the first file may have to be made; it goes again with it. */
export function writeInFolder(writes: readonly FileWrite[]): void {
  const made = makeFolder(dirname(writes[0]!.path));
  try {
    replaceFiles(writes);
  } catch (error) {
    if (made !== null) rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

/** Moves finished files to their names; when the disk does not take one of them, each name holds what it held. */
export function placeFiles(staged: readonly { readonly path: string; readonly temporary: string }[]): void {
  const undo: (() => void)[] = [];
  const kept: string[] = [];
  try {
    for (const { path, temporary } of staged) {
      const old = temporaryName(path);
      const before = keep(path, old);
      if (before === "kept") kept.push(old);
      renameOver(temporary, path);
      if (before === "kept") undo.push(() => renameOver(old, path));
      if (before === "nothing") undo.push(() => discard(path));
    }
    for (const folder of new Set(staged.map(({ path }) => dirname(path)))) syncFolder(folder);
  } catch (error) {
    for (const back of undo.reverse()) {
      try {
        back();
      } catch {
        // The disk takes nothing any more; the first error is the one to tell.
      }
    }
    throw error;
  } finally {
    for (const old of kept) discard(old);
  }
}

/** Gives what lies at `path` a second name. Not every disk has such; then the new content stays. */
function keep(path: string, old: string): "kept" | "nothing" | "no second names" {
  try {
    linkSync(path, old);
    return "kept";
  } catch (error) {
    return isSystemError(error) && error.code === "ENOENT" ? "nothing" : "no second names";
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Swept by the next command.
  }
}
