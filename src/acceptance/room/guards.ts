// What of the tests is compared after a run, where no mount holds it.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { seeEntry, type TreeEntry } from "../../trees/tree.js";
import { isSteering } from "../plan/steering.js";
import type { RoomTree } from "./room-tree.js";

/** What a test makes in its own folder is data; code and settings there were put by somebody else. */
const STEERS_THERE = /\.(?:py|[cm]?[jt]sx?|sh|bash|so|node|mk|toml|ini|cfg)$/;

export function plantedFiles(root: string, { open, layers }: RoomTree): string[] {
  return open.flatMap((folder) =>
    lstatSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory() === true
      ? readdirSync(join(root, folder))
          .map((name) => `${folder}/${name}`)
          .filter((path) => !layers.entries.has(path) && (STEERS_THERE.test(path) || isSteering(path)))
      : [],
  );
}

type Guards = ReadonlyMap<string, TreeEntry | null>;

/** What is compared afterwards: all guarded files where nothing holds them, else those no mount holds. */
export function guardsBefore({ cover, guarded, layers }: RoomTree, sandboxed: boolean, copy: string | null): Guards {
  const paths = sandboxed ? cover.compared : guarded;
  return new Map(
    paths.map((path) => [path, seeEntry(copy === null ? layers.entries.get(path)!.from : join(copy, path))]),
  );
}

/** In an overlay only what was written is there. */
export function isChanged(path: string, entry: TreeEntry | null, layered: boolean): boolean {
  const now = seeEntry(path);
  if (now === null) return !layered;
  return entry === null || now.type !== entry.type || now.hash !== entry.hash;
}
