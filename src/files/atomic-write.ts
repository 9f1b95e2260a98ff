// Replacing a file so that a crash, a full disk or a power cut leaves either the old content or the new, never a mix.
import { closeSync, fstatSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isSystemError, NutError, shellWord } from "../errors.js";
import { renameOver } from "./rename-over.js";

export interface AtomicWriteOptions {
  readonly mode?: number;
  /** Waits until the disk has it. Off only for files whose loss costs nothing. */
  readonly durable?: boolean;
}

/** Marks our temporary files, so that a sweep can recognise what a killed process left behind. */
export const TEMP_MARK = ".nut-tmp-";

let sequence = 0;

/** A name beside `path` that no other live process uses. */
export function temporaryName(path: string): string {
  sequence += 1;
  return join(dirname(path), `.${basename(path)}${TEMP_MARK}${process.pid}-${sequence}`);
}

type Data = string | Uint8Array | readonly Uint8Array[];

/** Replaces `path` with `data` (a list is written in order). Throws the system's error and leaves no temporary file when it cannot. */
export function atomicWrite(path: string, data: Data, options: AtomicWriteOptions = {}): void {
  const temporary = writeBeside(path, data, options);
  try {
    renameOver(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (options.durable ?? true) syncFolder(dirname(path));
}

/** The first half: everything in a temporary file, ready to be renamed. Returns its name; leaves nothing when it cannot. */
export function writeBeside(
  path: string,
  data: Data,
  { mode = 0o644, durable = true }: AtomicWriteOptions = {},
): string {
  const parts = typeof data === "string" ? [Buffer.from(data, "utf8")] : data instanceof Uint8Array ? [data] : data;
  const total = parts.reduce((sum, { length }) => sum + length, 0);
  const temporary = temporaryName(path);
  try {
    const file = openSync(temporary, "wx", mode);
    try {
      for (const bytes of parts) for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      // A short file renamed over a good one is how a full disk destroys data.
      if (fstatSync(file).size !== total) {
        throw new NutError("DISK_FULL", `${path}: not everything could be written`, { data: { path } });
      }
      if (durable) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return temporary;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw missingFolder(error, path) ?? withPath(error, path);
  }
}

/** Writing and syncing an open file fail without saying which. */
function withPath(error: unknown, path: string): unknown {
  return isSystemError(error) && error.path === undefined ? Object.assign(error, { path }) : error;
}

/** What a file could not be made for when its folder is not there; null for any other error. */
export function missingFolder(error: unknown, path: string): NutError | null {
  if (!isSystemError(error) || error.code !== "ENOENT") return null;
  const folder = dirname(path);
  return new NutError("FILE_NOT_FOUND", `${folder}: no such folder`, {
    hint: `mkdir -p ${shellWord(folder)}`,
    data: { path: folder, errno: error.code },
    cause: error,
  });
}

/** Makes names in a folder (a rename, a removal) survive a power cut, where the system can: Windows and some network disks cannot. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } catch (error) {
    if (!isSystemError(error) || !CANNOT_SYNC.has(error.code)) throw withPath(error, folder);
  } finally {
    closeSync(handle);
  }
}

/** What fsync answers where folders cannot be synced. */
const CANNOT_SYNC: ReadonlySet<string> = new Set(["EPERM", "EINVAL", "ENOTSUP", "EISDIR"]);
