// Bytes by their digest, inside a run's folder. A change is kept here before it is applied anywhere, so that applying
// it again after a crash gives the same tree, whatever became of the agent's own folder.
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { NutError } from "../errors.js";
import { renameOver, syncFolder, temporaryName } from "../files/index.js";
import { onDisk } from "./disk-names.js";
import { type Change, parentsAreFolders, seeEntry, type TreeEntry } from "./tree.js";

export class Objects {
  readonly #folder: string;
  readonly #base: string;

  /** `base` is the untouched workspace: what it holds need not be kept a second time. */
  constructor(folder: string, base: string) {
    this.#folder = folder;
    this.#base = base;
    mkdirSync(folder, { recursive: true });
  }

  #path(hash: string): string {
    return join(this.#folder, hash);
  }

  has(hash: string): boolean {
    return existsSync(this.#path(hash));
  }

  /** Where the bytes of an entry at `path` are: kept here, or never changed since the beginning. */
  #source(path: string, entry: TreeEntry): string {
    return this.has(entry.hash) ? this.#path(entry.hash) : join(this.#base, path);
  }

  read(path: string, entry: TreeEntry): Buffer {
    const source = this.#source(path, entry);
    // A kept link is a file that holds its target.
    return lstatSync(source).isSymbolicLink() ? readlinkSync(source, "buffer") : readFileSync(source);
  }

  /** Keeps the bytes of a file or the target of a link. Throws when they are no longer what `entry` says. */
  keep(path: string, entry: TreeEntry): void {
    if (entry.hash === "" || this.has(entry.hash)) return;
    const temporary = temporaryName(this.#path(entry.hash));
    if (entry.type === "link") writeFileSync(temporary, readlinkSync(onDisk(path), "buffer"));
    else copyFileSync(onDisk(path), temporary, constants.COPYFILE_FICLONE);
    const copied = seeEntry(temporary);
    if (copied?.hash !== entry.hash) {
      rmSync(temporary, { force: true });
      throw new NutError("RUN_TREE_MOVED", `${path} changed while it was being read`, {
        hint: "stop what writes to the folder, then: nexus resume",
        data: { path },
      });
    }
    renameOver(temporary, this.#path(entry.hash));
  }

  keepBytes(entry: TreeEntry, bytes: Uint8Array): void {
    if (this.has(entry.hash)) return;
    const temporary = temporaryName(this.#path(entry.hash));
    writeFileSync(temporary, bytes);
    renameOver(temporary, this.#path(entry.hash));
  }

  /** Keeps what every change brings, read from `folder`. */
  keepChanges(folder: string, changes: readonly Change[]): void {
    let isAnyNew = false;
    for (const { path, after } of changes) {
      if (after === null || after.hash === "" || this.has(after.hash)) continue;
      this.keep(join(folder, path), after);
      isAnyNew = true;
    }
    if (isAnyNew) syncFolder(this.#folder);
  }

  /** Makes `folder` hold what the changes say. Doing it twice does it once. */
  apply(folder: string, changes: readonly Change[]): void {
    const deletedPaths = changes.filter(({ after }) => after === null).map(({ path }) => path);
    // Deepest first, so that a folder is empty by the time it goes.
    for (const path of deletedPaths.sort().reverse()) {
      if (parentsAreFolders(folder, path)) rmSync(onDisk(join(folder, path)), { recursive: true, force: true });
    }
    for (const { path, after } of changes) if (after !== null) this.#write(folder, path, after);
  }

  #write(folder: string, inside: string, entry: TreeEntry): void {
    const path = join(folder, inside);
    // Before anything else: whoever worked here may have put a link where a folder was.
    if (isBehindLink(folder, inside)) {
      throw new NutError("RUN_TREE_MOVED", `"${inside}" lies behind a link`, {
        hint: "put the folder back where it was, then: nexus resume",
        data: { path: inside },
      });
    }
    clearOtherKind(path, entry);
    if (entry.type === "folder") {
      mkdirSync(onDisk(path), { recursive: true });
      return;
    }
    mkdirSync(onDisk(dirname(path)), { recursive: true });
    if (entry.type === "link") {
      rmSync(onDisk(path), { force: true });
      symlinkSync(this.read(inside, entry), onDisk(path));
      return;
    }
    const temporary = onDisk(temporaryName(path));
    copyFileSync(this.#source(inside, entry), temporary, constants.COPYFILE_FICLONE);
    chmodSync(temporary, entry.executable ? 0o755 : 0o644);
    renameOver(temporary, onDisk(path));
  }
}

/** A folder in place of a file, or a link in place of a folder, must go before the new entry can stand there. */
function clearOtherKind(path: string, entry: TreeEntry): void {
  const stats = lstatSync(onDisk(path), { throwIfNoEntry: false });
  if (stats === undefined) return;
  const isFolder = stats.isDirectory();
  if (isFolder !== (entry.type === "folder")) rmSync(onDisk(path), { recursive: true, force: true });
}

/** Whether something that is no folder stands on the way to `path`. What is not there yet does not. */
function isBehindLink(folder: string, path: string): boolean {
  const parts = path.split("/").slice(0, -1);
  return parts.some((_, index) => {
    const parent = join(folder, ...parts.slice(0, index + 1));
    return lstatSync(onDisk(parent), { throwIfNoEntry: false })?.isDirectory() === false;
  });
}
