// Folders that appear whole or not at all: written beside their place, then renamed into it.
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeManifest } from "../../bundle/index.js";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import { makeFolder, syncFolder, temporaryName } from "../../files/index.js";
import { sweepLeftovers } from "../../process/index.js";
import type { Manifest } from "../../schema/manifest.js";

export interface NewFile {
  readonly path: string;
  readonly executable: boolean;
  readonly isFolder: boolean;
  readonly read: () => Promise<Uint8Array>;
}

export interface NewFolder {
  readonly target: string;
  /** null: a folder of plain files, which is no bundle. */
  readonly manifest: Manifest | null;
  readonly files: readonly NewFile[];
}

/** Makes all of them, or none. Throws FILE_EXISTS before anything is written when one is already there. */
export async function makeFolders(folders: readonly NewFolder[], signal: AbortSignal): Promise<void> {
  for (const { target } of folders) assertFree(target);
  const there = new Set(folders.map(({ target }) => target).filter((target) => existsSync(target)));
  const parents = new Set(folders.map(({ target }) => dirname(target)));
  for (const parent of parents) sweepLeftovers(parent);
  const made: string[] = [];
  const written = folders.map(({ target }) => temporaryName(target));
  try {
    for (const parent of parents) {
      const first = makeFolder(parent);
      if (first !== null) made.push(first);
    }
    for (const [index, folder] of folders.entries()) await fill(written[index]!, folder, signal);
    for (const [index, { target }] of folders.entries()) {
      if (there.has(target)) rmdirSync(target);
      renameSync(written[index]!, target);
      made.push(target);
    }
    for (const parent of parents) syncFolder(parent);
  } catch (error) {
    for (const path of [...written, ...made]) rmSync(path, { recursive: true, force: true });
    for (const target of there) makeFolder(target);
    throw fromSystemError(error) ?? error;
  }
}

function assertFree(target: string): void {
  if (!existsSync(target)) return;
  const isEmpty = (() => {
    try {
      return readdirSync(target).length === 0;
    } catch {
      return false;
    }
  })();
  if (isEmpty) return;
  throw new NutError("FILE_EXISTS", `${target} is already there and is never overwritten`, {
    hint: `name another folder, or move this one away: mv ${shellWord(target)} ${shellWord(`${target}.old`)}`,
    data: { path: target },
  });
}

async function fill(folder: string, { manifest, files }: NewFolder, signal: AbortSignal): Promise<void> {
  mkdirSync(folder);
  for (const { path, executable, isFolder, read } of files) {
    signal.throwIfAborted();
    const target = join(folder, path);
    makeFolder(isFolder ? target : dirname(target));
    if (!isFolder) writeFileSync(target, await read(), { flag: "wx", mode: executable ? 0o755 : 0o644 });
  }
  if (manifest !== null) writeManifest(folder, manifest);
}
