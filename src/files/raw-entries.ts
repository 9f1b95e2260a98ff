import { type Dirent, lstatSync, readdirSync } from "node:fs";

export type RawEntry = Pick<Dirent<Buffer>, "name" | "isDirectory" | "isFile" | "isSymbolicLink">;

/** What lies in a folder, with names as bytes. Bun, which our single files are made with, tells bytes or kinds, not both. */
export function rawEntries(folder: string | Buffer): RawEntry[] {
  const entries = readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  if (entries.every(({ name }) => Buffer.isBuffer(name))) return entries;
  return readdirSync(folder, { encoding: "buffer" }).flatMap((name) => {
    const path = Buffer.concat([Buffer.from(folder), Buffer.from("/"), name]);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [Object.assign(stats, { name })];
  });
}
