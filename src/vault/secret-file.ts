// Files that hold keys: created 0600 and never over another; read only when nobody else can read them.
import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { fromSystemError, NutError, shellWord } from "../errors.js";
import { makeFolder, syncFolder } from "../files/index.js";

/** Far above any key file; a device or a huge file in its place is refused instead of read. */
const MAX_KEY_FILE_BYTES = 1 << 20;

/** Reads a key file. Refuses one that group or others may read, since the key may already be known to them. */
export function readSecretFile(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile())
      throw new NutError("FILE_UNREADABLE", `${path}: not a regular file`, {
        hint: `ls -ld ${shellWord(path)}`,
        data: { path },
      });
    if (stat.size > MAX_KEY_FILE_BYTES) {
      throw new NutError("FILE_UNREADABLE", `${path}: too large for a key file`, {
        hint: `ls -l ${shellWord(path)}`,
        data: { path, bytes: stat.size },
      });
    }
    if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
      throw new NutError("IDENTITY_EXPOSED", `${path}: other users may read this key (mode ${modeText(stat.mode)})`, {
        hint: `chmod 600 ${shellWord(path)}`,
        data: { path, mode: modeText(stat.mode) },
      });
    }
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Creates a key file, 0600, in a folder of its owner's. Never replaces a file: a lost key cannot be made again. */
export function writeSecretFile(path: string, data: string | Uint8Array): void {
  makeFolder(dirname(path), 0o700);
  const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(path, { force: true });
    throw fromSystemError(error, path) ?? error;
  } finally {
    closeSync(file);
  }
}

function modeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, "0");
}
