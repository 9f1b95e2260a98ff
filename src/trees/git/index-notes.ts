// What git notes of every file as it writes it, in the index of a clone of our own: size, inode and change time. A list by `find`
// that says the same was made of files that nobody touched since.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tree } from "../tree.js";

export interface IndexNotes {
  /** Whether git noted this of a file. Of an inode it notes the lower half. */
  readonly has: (path: string, noted: Noted) => boolean;
}

export interface Noted {
  readonly size: number;
  readonly inode: number;
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** null where the index is of another kind, or does not name just the files of `entries`, which are in git's order. */
export function indexNotes(clone: string, commit: string, entries: Tree["entries"]): IndexNotes | null {
  const file = join(clone, ".git", "index");
  if (!existsSync(file)) return null;
  const bytes = readFileSync(file);
  if (bytes.length < HEAD || bytes.toString("latin1", 0, 4) !== "DIRC" || bytes.readUInt32BE(4) !== 2) return null;
  const places = placesIn(bytes, STAMPS + commit.length / 2 + FLAGS, entries);
  if (places === null) return null;
  const has = (path: string, { size, inode, seconds, nanoseconds }: Noted): boolean => {
    const at = places.get(path);
    return (
      at !== undefined &&
      bytes.readUInt32BE(at) === seconds &&
      bytes.readUInt32BE(at + 4) === nanoseconds &&
      bytes.readUInt32BE(at + 20) === inode &&
      bytes.readUInt32BE(at + 36) === size
    );
  };
  return { has };
}

const HEAD = 12;
const STAMPS = 40;
const FLAGS = 2;

/** Where the entry of each file begins. */
function placesIn(bytes: Buffer, fixed: number, entries: Tree["entries"]): ReadonlyMap<string, number> | null {
  const places = new Map<string, number>();
  let at = HEAD;
  for (const [path, { type }] of entries) {
    if (type === "folder") continue;
    const end = bytes.indexOf(0, at + fixed);
    if (end < 0 || bytes.toString("utf8", at + fixed, end) !== path) return null;
    places.set(path, at);
    at += (end - at + 8) & ~7;
  }
  return places.size === bytes.readUInt32BE(8) ? places : null;
}
