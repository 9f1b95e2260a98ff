// What a check made in its room, kept for checks that come after it. Only plain files, links and folders, and nothing that
// is a test or steers one: those are as they were for every check.
import { copyFileSync, existsSync, lstatSync, mkdirSync, readlinkSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathsIn, sameEntry, seeEntry } from "../../trees/tree.js";
import { type Layer, type Layers, placeOf } from "./layers.js";

export interface Written {
  /** Where it is on this machine. */
  readonly folder: string;
  /** Whether only what was written is there; otherwise the whole tree is. */
  readonly layered: boolean;
}

/** Copies what was written over `layers` to `target`, as a layer of its own. */
export function keepOutputs(
  { folder, layered }: Written,
  layers: Layers,
  target: string,
  isKept: (path: string) => boolean,
): Required<Layer> {
  mkdirSync(target, { recursive: true });
  const removed: string[] = layered ? [] : missing(folder, layers).filter(isKept);
  // A run that ended before its room was laid out wrote nothing.
  const paths = existsSync(folder) ? pathsIn(folder) : [];
  for (const path of paths) {
    const from = join(folder, path);
    const stat = lstatSync(from);
    if (stat.isDirectory()) mkdirSync(join(target, path), { recursive: true });
    else if (!isKept(path) || (!layered && isAsBefore(from, path, layers))) continue;
    // An overlay notes a removed file as a device that is none.
    else if (stat.isCharacterDevice()) removed.push(path);
    else if (stat.isSymbolicLink()) putLink(from, join(target, path));
    else if (stat.isFile()) putFile(from, join(target, path));
  }
  return { folder: target, removed };
}

function isAsBefore(now: string, path: string, { entries }: Layers): boolean {
  const before = entries.get(path);
  return before !== undefined && sameEntry(seeEntry(placeOf(path, before)), seeEntry(now));
}

const missing = (folder: string, { entries }: Layers): string[] =>
  [...entries.keys()].filter((path) => lstatSync(join(folder, path), { throwIfNoEntry: false }) === undefined);

function putLink(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(readlinkSync(from), to);
}

function putFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
