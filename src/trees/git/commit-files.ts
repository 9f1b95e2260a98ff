// What the files of a commit hold, asked of the store while git writes them: they need not be read a second time.
import { createHash, type Hash, hash as hashOf } from "node:crypto";
import { NutError } from "../../errors.js";
import { sharingTexts } from "../shared-texts.js";
import type { TreeEntry } from "../tree.js";
import { bareGit, type GitWorld } from "./git.js";

export interface CommitFiles {
  /** In git's order, with the folders they lie in; a folder comes before what it holds. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** Folders that hold another repository. */
  readonly submodules: readonly string[];
  /** The texts of all `.gitattributes`. */
  readonly attributes: readonly string[];
}

/** null when the store cannot say it all, or a name is no text. */
export async function commitFiles(repo: string, commit: string, world: GitWorld): Promise<CommitFiles | null> {
  try {
    const list = listIn(await listed(repo, commit, world));
    if (list === null || !(await readBlobs(repo, list, world))) return null;
    const { submodules, attributes } = list;
    return { entries: sharingTexts(list.entries), submodules, attributes };
  } catch (error) {
    if (error instanceof NutError && error.code === "REPOSITORY_FAILED") return null;
    throw error;
  }
}

async function listed(repo: string, commit: string, world: GitWorld): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const onOutput = (piece: Buffer) => pieces.push(Buffer.from(piece));
  await bareGit(["ls-tree", "-r", "-z", commit], { cwd: repo, onOutput }, world);
  return Buffer.concat(pieces);
}

type Unread = { -readonly [K in keyof TreeEntry]: TreeEntry[K] };

interface List extends CommitFiles {
  readonly entries: Map<string, Unread>;
  readonly attributes: string[];
  /** What is still to be read, in the order of `names`. */
  readonly unread: readonly Unread[];
  /** Names of the blobs, a line each. */
  readonly names: string;
  readonly isAttributes: (at: number) => boolean;
}

const [TAB, NEWLINE] = [0x09, 0x0a];
const FOLDER: TreeEntry = { type: "folder", executable: false, size: 0, hash: "" };

/** Rows are `100644 blob <name>\t<path>`. */
function listIn(rows: Buffer): List | null {
  const entries = new Map<string, Unread>();
  const submodules: string[] = [];
  const unread: Unread[] = [];
  const attributes = new Set<number>();
  // No longer than the rows themselves.
  const names = Buffer.alloc(rows.length);
  let length = 0;
  for (let at = 0; at < rows.length; ) {
    const [tab, end] = [rows.indexOf(TAB, at), rows.indexOf(0, at)];
    const path = rows.toString("utf8", tab + 1, end);
    if (path.includes("\uFFFD")) return null;
    addFolders(entries, path);
    const mode = rows.toString("latin1", at, at + MODE);
    if (mode === "160000") {
      submodules.push(path);
      entries.set(path, FOLDER);
    } else {
      if (path.endsWith(".gitattributes")) attributes.add(unread.length);
      const entry: Unread = {
        type: mode === "120000" ? "link" : "file",
        executable: mode === "100755",
        size: 0,
        hash: "",
      };
      entries.set(path, entry);
      unread.push(entry);
      length += rows.copy(names, length, at + NAME, tab);
      names[length] = NEWLINE;
      length += 1;
    }
    at = end + 1;
  }
  const isAttributes = (at: number) => attributes.has(at);
  return { entries, submodules, attributes: [], unread, names: names.toString("latin1", 0, length), isAttributes };
}

const MODE = 6;
const NAME = "100644 blob ".length;

function addFolders(entries: Map<string, Unread>, path: string): void {
  const slash = path.lastIndexOf("/");
  const folder = path.slice(0, Math.max(0, slash));
  if (slash < 0 || entries.has(folder)) return;
  addFolders(entries, folder);
  entries.set(folder, FOLDER);
}

/** Fills in sizes and hashes; false when one of them could not be had. */
async function readBlobs(repo: string, list: List, world: GitWorld): Promise<boolean> {
  const reader = new BatchReader(list);
  const options = { cwd: repo, stdin: list.names, onOutput: (piece: Buffer) => reader.read(piece) };
  await bareGit(["cat-file", "--batch", "--buffer"], options, world);
  return reader.isDone();
}

/** Reads what `git cat-file --batch` prints, in whatever pieces it comes. What is not as it was asked for ends it. */
class BatchReader {
  readonly #list: List;
  #next = 0;
  /** The start of a head whose end is in the next piece. */
  #head = "";
  /** A blob whose end is in a later piece. */
  #open: { readonly size: number; left: number; readonly digest: Hash; readonly pieces: Buffer[] } | null = null;
  /** The line break after a blob is still to come. */
  #skips = false;
  #failed = false;

  constructor(list: List) {
    this.#list = list;
  }

  isDone(): boolean {
    return !this.#failed && this.#next === this.#list.unread.length;
  }

  read(piece: Buffer): void {
    for (let at = 0; at < piece.length && !this.#failed; ) {
      if (this.#skips) {
        this.#skips = false;
        at += 1;
      } else at = this.#open === null ? this.#begin(piece, at) : this.#goOn(piece, at);
    }
  }

  /** Heads are `<name> blob <size>`, and the names those that were asked for, in that order. */
  #begin(piece: Buffer, from: number): number {
    const end = piece.indexOf(NEWLINE, from);
    const head = this.#head + piece.toString("latin1", from, end < 0 ? piece.length : end);
    this.#head = end < 0 ? head : "";
    if (end < 0) return piece.length;
    const size = Number(head.slice(head.lastIndexOf(" ")));
    this.#failed = !head.includes(" blob ") || Number.isNaN(size) || this.#next === this.#list.unread.length;
    if (this.#failed) return piece.length;
    const [start, last] = [end + 1, end + 1 + size];
    if (last > piece.length || this.#list.isAttributes(this.#next)) {
      this.#open = { size, left: size, digest: createHash("sha256"), pieces: [] };
      return this.#goOn(piece, start);
    }
    this.#found(size, hashOf("sha256", piece.subarray(start, last), "hex"));
    return last;
  }

  #goOn(piece: Buffer, from: number): number {
    const open = this.#open!;
    const part = piece.subarray(from, from + open.left);
    const isAttributes = this.#list.isAttributes(this.#next);
    open.digest.update(part);
    if (isAttributes) open.pieces.push(Buffer.from(part));
    open.left -= part.length;
    if (open.left > 0) return piece.length;
    if (isAttributes) this.#list.attributes.push(Buffer.concat(open.pieces).toString("utf8"));
    this.#open = null;
    this.#found(open.size, open.digest.digest("hex"));
    return from + part.length;
  }

  #found(size: number, hash: string): void {
    const entry = this.#list.unread[this.#next]!;
    entry.size = size;
    entry.hash = hash;
    this.#next += 1;
    this.#skips = true;
  }
}
