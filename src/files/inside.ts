// Files in a folder that somebody else may have written to: an agent's home, the tree it worked in. `root` itself is ours;
// every step below it is taken without following a link, so nothing outside it is ever written or removed. On Linux the
// steps are held open, so a folder that is swapped for a link in between changes nothing either.
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isSystemError, NutError, shellWord } from "../errors.js";
import { removeEmpty } from "./make-folder.js";

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;
const HAS_DESCRIPTORS = process.platform === "linux";

/** Writes a file that must be new or replace a plain one. Folders on the way are made. Throws SOURCE_UNSAFE at a link. */
export function writeInside(root: string, path: string, data: string | Uint8Array, mode = 0o600): void {
  within(root, path, { make: true }, (folder, name) => {
    const place = join(folder, name);
    rmSync(place, { force: true });
    const file = openSync(place, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode);
    try {
      const bytes = Buffer.from(data as string);
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    } finally {
      closeSync(file);
    }
  });
}

/** Adds to a plain file, or begins it. A line that is not ended is ended first. */
export function appendInside(root: string, path: string, text: string): void {
  within(root, path, { make: true, mode: 0o777 }, (folder, name) => {
    const place = join(folder, name);
    const file = openPlain(place, join(root, path));
    try {
      writeSync(file, endsInLine(file) ? text : `\n${text}`);
    } catch (error) {
      if (fstatSync(file).size === 0) rmSync(place, { force: true });
      throw error;
    } finally {
      closeSync(file);
    }
  });
}

/** A second name may be that of any file of the person's, and a pipe would be waited for. */
function openPlain(place: string, shown: string): number {
  let file: number;
  try {
    file = openSync(place, O_CREAT | O_RDWR | O_APPEND | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0), 0o666);
  } catch (error) {
    if (isSystemError(error) && ["ELOOP", "EISDIR", "ENXIO"].includes(error.code)) throw unsafe(shown);
    throw error;
  }
  const stat = fstatSync(file);
  if (stat.isFile() && stat.nlink === 1) return file;
  closeSync(file);
  throw unsafe(shown);
}

function endsInLine(file: number): boolean {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 0x0a);
}

/** Makes a folder and those on the way to it. */
export function makeInside(root: string, path: string): void {
  within(root, `${path}/.`, { make: true }, () => {});
}

/** Removes a file or a folder with all that is in it; a link is removed, not followed. Nothing happens when it is not there. */
export function removeInside(root: string, path: string): void {
  within(root, path, { make: false }, (folder, name) => rmSync(join(folder, name), { recursive: true, force: true }));
}

/** Does something to `name` in the folder `path` lies in. Without `make` a missing folder ends it quietly. */
export function within(
  root: string,
  path: string,
  { make, mode = 0o700 }: { readonly make: boolean; readonly mode?: number },
  act: (folder: string, name: string) => void,
): void {
  const parts = path.split("/").filter((part) => part !== "");
  const name = parts.pop() ?? "";
  if (name === "" || parts.includes("..") || name === "..") throw unsafe(join(root, path));
  const opened = [openFolder(root, root)];
  const made: string[] = [];
  try {
    for (const part of parts) {
      const from = opened.at(-1)!;
      const next = step(from, part, join(root, path), make ? mode : null);
      if (next === null) return;
      if (next.isNew) made.push(join(from.path, part));
      opened.push(next);
    }
    act(opened.at(-1)!.path, name);
  } catch (error) {
    for (const folder of made.reverse()) removeEmpty(folder);
    throw error;
  } finally {
    for (const folder of opened) folder.close();
  }
}

interface Folder {
  /** Leads to the folder itself, whatever became of its name. */
  readonly path: string;
  /** It was made on the way. */
  readonly isNew?: boolean;
  close(): void;
}

function openFolder(path: string, shown: string): Folder {
  if (!HAS_DESCRIPTORS) {
    const stat = lstatSync(path);
    if (!stat.isDirectory() || stat.uid !== (process.getuid?.() ?? stat.uid)) throw unsafe(shown);
    return { path, close: () => {} };
  }
  try {
    const fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return { path: `/proc/self/fd/${fd}`, close: () => closeSync(fd) };
  } catch (error) {
    if (isSystemError(error) && (error.code === "ELOOP" || error.code === "ENOTDIR")) throw unsafe(shown);
    throw error;
  }
}

/** `make` is the mode of a folder that is missing; null ends it there. */
function step(from: Folder, name: string, shown: string, make: number | null): Folder | null {
  const path = join(from.path, name);
  try {
    return openFolder(path, shown);
  } catch (error) {
    if (!isSystemError(error) || error.code !== "ENOENT") throw error;
    if (make === null) return null;
    mkdirSync(path, { mode: make });
    return { ...openFolder(path, shown), isNew: true };
  }
}

const unsafe = (path: string) =>
  new NutError("SOURCE_UNSAFE", `${path} lies behind a link or in something that is no folder of ours`, {
    hint: `ls -l ${shellWord(path)}`,
    data: { path },
  });
