// A folder as one text: what every entry is, with what the file system changes whenever it does (size, inode, and the change
// time, which no program can set back). Two looks that give the same bytes saw the same tree, so nothing need be parsed.
// `find` walks where it knows how to print this (GNU's); elsewhere we do.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { nameFrom, onDisk } from "./disk-names.js";
import { type ListedLine, pathStart } from "./listing-diff.js";
import { pathsIn } from "./tree.js";

/** Never looked at: version control's own, and what package managers and programs make. */
export const SKIPPED_NAMES: readonly string[] = [
  ".git",
  "node_modules",
  ".venv",
  "venv",
  "__pycache__",
  ".pytest_cache",
];
/** The harness's own. */
export const STATE = ".nexus/state";

const MAX_BYTES = 1 << 30;
/** More words than a program may be started with. */
const MAX_SKIPPED = 5_000;
const FINDS = ["/usr/bin/find", "/bin/find"];

export interface ListingEntry {
  /** The whole record: equal lines are equal entries. */
  readonly line: string;
  readonly type: "file" | "link" | "folder" | "other";
  readonly mode: number;
  readonly size: number;
  /** Change time in milliseconds. */
  readonly changedMs: number;
  /** Of a link, as Latin-1: its bytes. */
  readonly target: string;
}

/** `skipped` are folders that are left out with all they hold. The folder itself is the entry "". */
export function listTree(root: string, skipped: readonly string[]): Buffer {
  return listByFind(root, skipped) ?? listByHand(root, skipped);
}

const FORMAT = "%y %m %s %i %C@ %P\\0%l\\0";

export function listByFind(root: string, skipped: readonly string[]): Buffer | null {
  const find = FINDS.find((path) => existsSync(path));
  if (find === undefined || skipped.length > MAX_SKIPPED) return null;
  const { status, output } = spawnSync("/bin/sh", ["-c", TWO, find, "(", ...pruning(skipped), ")"], {
    cwd: root,
    env: { LC_ALL: "C" },
    maxBuffer: MAX_BYTES,
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  const [, first, , second] = (output ?? []) as (Buffer | null | undefined)[];
  // Another kind of find prints nothing.
  return status !== 0 || !first?.length || !second ? null : Buffer.concat([first, second]);
}

const words = (all: readonly string[]): string => all.map((word) => `'${word}'`).join(" ");
/** Folders in the second row whose names end in every other letter. */
const HALF = ["-type", "d", "-name", "*[13579acegikmoqsuwyACEGIKMOQSUWY]"];
const FROM_SECOND = ["-path", "./*/*"];
const FROM_THIRD = ["-path", "./*/*/*"];
const PRINT = ["-prune", "-o", "-printf", FORMAT];
const REST = ["-prune", "-o", ...HALF, ...FROM_SECOND, "!", ...FROM_THIRD, ...PRINT];
const OWN = ["-prune", "-o", "!", ...FROM_SECOND, "-o", "!", ...FROM_THIRD, "!", "(", ...HALF, ")", ...PRINT];

/**
 * Two at once: the second lists the folders of HALF with all they hold, the first everything else. The status of `find` only says that
 * something could not be read, and such a folder is in the list; a list whose program was ended is not whole.
 */
const TWO = `"$0" . "$@" ${words(REST)} & first=$!
"$0" . "$@" ${words(OWN)} >&3; second=$?
wait $first; [ $? -lt 126 ] && [ $second -lt 126 ]`;

const ALL = [".", "-name", ".git", "-prune", "-o", "-printf", FORMAT];

/** All of a tree but git's own files, by `find`; null where it is not GNU's. */
export function listAll(root: string): Buffer | null {
  const find = FINDS.find((path) => existsSync(path));
  if (find === undefined) return null;
  const { status, stdout } = spawnSync(find, ALL, {
    cwd: root,
    env: { LC_ALL: "C" },
    maxBuffer: MAX_BYTES,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 && stdout.length > 0 ? stdout : null;
}

/** The same while others are at work. */
export async function listAllBeside(root: string): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  return (await eachPiece(root, (piece) => pieces.push(piece))) ? Buffer.concat(pieces) : null;
}

/** The sha256 of that list, which nobody keeps. */
export async function digestAllBeside(root: string): Promise<string | null> {
  const digest = createHash("sha256");
  return (await eachPiece(root, (piece) => digest.update(piece))) ? digest.digest("hex") : null;
}

/** Whether there was a list, and all of it was told. */
async function eachPiece(root: string, tell: (piece: Buffer) => void): Promise<boolean> {
  const find = FINDS.find((path) => existsSync(path));
  if (find === undefined) return false;
  const child = spawn(find, ALL, { cwd: root, env: { LC_ALL: "C" }, stdio: ["ignore", "pipe", "ignore"] });
  let isEmpty = true;
  child.stdout.on("data", (piece: Buffer) => {
    isEmpty = false;
    tell(piece);
  });
  child.on("error", () => {});
  const code = await new Promise((resolve) => child.once("close", resolve));
  return code === 0 && !isEmpty;
}

/** Paths are compared only with those of the same last name: there may be thousands. */
function pruning(skipped: readonly string[]): string[] {
  const byName = new Map<string, string[]>([["state", [STATE]]]);
  for (const path of skipped) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    byName.set(name, [...(byName.get(name) ?? []), path]);
  }
  const plain = (text: string) => text.replace(/[\\*?[\]]/g, "\\$&");
  const names = SKIPPED_NAMES.flatMap((name) => ["-name", name, "-o"]);
  const paths = [...byName].flatMap(([name, list], index) => [
    ...(index === 0 ? [] : ["-o"]),
    "-name",
    plain(name),
    "(",
    ...list.flatMap((path, i) => [...(i === 0 ? [] : ["-o"]), "-path", `./${plain(path)}`]),
    ")",
  ]);
  return [...names, ...paths];
}

export function listByHand(root: string, skipped: readonly string[]): Buffer {
  const left = new Set(skipped);
  const skip = (path: string) =>
    path === STATE || SKIPPED_NAMES.includes(path.slice(path.lastIndexOf("/") + 1)) || left.has(path);
  const parts: Buffer[] = [recordOf(root, "")];
  for (const path of pathsIn(root, skip, () => false)) parts.push(recordOf(root, path));
  return Buffer.concat(parts);
}

function recordOf(root: string, path: string): Buffer {
  const disk = onDisk(join(root, path));
  const stats = lstatSync(disk, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return Buffer.alloc(0);
  const type = stats.isFile() ? "f" : stats.isDirectory() ? "d" : stats.isSymbolicLink() ? "l" : "o";
  const seconds = stats.ctimeNs / 1_000_000_000n;
  const rest = (stats.ctimeNs % 1_000_000_000n).toString().padStart(9, "0");
  const mode = (Number(stats.mode) & 0o7777).toString(8);
  const name = onDisk(path);
  return Buffer.concat([
    Buffer.from(`${type} ${mode} ${stats.size} ${stats.ino} ${seconds}.${rest}0 `),
    typeof name === "string" ? Buffer.from(name) : name,
    Buffer.from([0]),
    type === "l" ? readlinkSync(disk, "buffer") : Buffer.alloc(0),
    Buffer.from([0]),
  ]);
}

/** Whether an entry of a list is still as its line says. */
export function isStill(root: string, { path, line }: ListedLine): boolean {
  const whole = line.includes("\0") ? `${line}\0` : `${line}\0\0`;
  return recordOf(root, pathFrom(path)).equals(Buffer.from(whole, "latin1"));
}

/** Lines by path; both as Latin-1, which keeps every byte. In the order of the list. */
export function linesOf(listing: Buffer): Map<string, string> {
  const lines = new Map<string, string>();
  const parts = listing.toString("latin1").split("\0");
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const line = parts[i]!;
    lines.set(line.slice(pathStart(line)), parts[i + 1] === "" ? line : `${line}\0${parts[i + 1]}`);
  }
  return lines;
}

const TYPES: Readonly<Record<string, ListingEntry["type"]>> = { f: "file", d: "folder", l: "link" };

export function entryOf(line: string): ListingEntry {
  const [type = "", mode = "", size = "", , changed = ""] = line.split(" ", 5);
  const end = line.indexOf("\0");
  return {
    line,
    type: TYPES[type] ?? "other",
    mode: Number.parseInt(mode, 8),
    size: Number(size),
    changedMs: Number(changed) * 1_000,
    target: end < 0 ? "" : line.slice(end + 1),
  };
}

export interface StampedPath extends Omit<ListingEntry, "line" | "target" | "changedMs"> {
  readonly path: string;
  /** Of a link. */
  readonly target: Buffer;
  /** As `tree.ts` makes it. */
  readonly stamp: string;
}

const TYPE_BITS: Readonly<Record<string, number>> = {
  ...{ f: 0o100000, d: 0o040000, l: 0o120000 },
  ...{ p: 0o010000, s: 0o140000, c: 0o020000, b: 0o060000 },
};

const NOWHERE = Buffer.alloc(0);

/** All entries of a list but the folder itself, with names as `readdir` gives them. In the order of the list. */
export function* stampedPaths(listing: Buffer): Generator<StampedPath> {
  for (let at = 0; at < listing.length; ) {
    const [end, start] = [listing.indexOf(0, at), afterFields(listing, at)];
    const last = listing.indexOf(0, end + 1);
    // Texts of their own: parts of one would hold all of it.
    const [kind = "", octal = "", bytes = "", inode = "", changed = ""] = listing
      .toString("latin1", at, start)
      .split(" ");
    const [size, mode] = [Number(bytes), Number.parseInt(octal, 8)];
    const [seconds, rest = ""] = changed.split(".");
    const stamp = [size, inode, `${seconds}${rest.slice(0, 9)}`, mode | (TYPE_BITS[kind] ?? 0)].join(":");
    const target = kind === "l" ? listing.subarray(end + 1, last) : NOWHERE;
    if (start < end) {
      yield { path: listing.toString("utf8", start, end), type: TYPES[kind] ?? "other", mode, size, target, stamp };
    }
    at = last + 1;
  }
}

const [SPACE, DOT, ZERO] = [0x20, 0x2e, 0x30];
const LETTERS: Readonly<Record<number, ListingEntry["type"]>> = { 102: "file", 100: "folder", 108: "link" };

/** The records of a list one after the other, as numbers: of a hundred thousand no text is made that nobody keeps. */
export class ListedRecord {
  readonly #listing: Buffer;
  #at = 0;
  #start = 0;
  #end = 0;
  type: ListingEntry["type"] = "other";
  mode = 0;
  size = 0;
  /** Its lower half. */
  inode = 0;
  seconds = 0;
  nanoseconds = 0;

  constructor(listing: Buffer) {
    this.#listing = listing;
  }

  /** false behind the last. */
  next(): boolean {
    if (this.#at >= this.#listing.length) return false;
    this.type = LETTERS[this.#listing[this.#at]!] ?? "other";
    this.#start = this.#at + 2;
    this.mode = this.#number(SPACE, 8);
    this.size = this.#number(SPACE);
    this.inode = this.#number(SPACE);
    this.seconds = this.#number(DOT);
    // Ten places are printed.
    this.nanoseconds = this.#number(SPACE, 10, 9);
    this.#end = this.#listing.indexOf(0, this.#start);
    this.#at = this.#listing.indexOf(0, this.#end + 1) + 1;
    return true;
  }

  path(): string {
    return this.#listing.toString("utf8", this.#start, this.#end);
  }

  /** As `linesOf` has it. */
  latin1(): string {
    return this.#listing.toString("latin1", this.#start, this.#end);
  }

  /** Where the next one begins. */
  get end(): number {
    return this.#at;
  }

  /** Of the digits up to `end` the first `places`, without what does not fit into 32 bits. */
  #number(end: number, base = 10, places = 20): number {
    let value = 0;
    for (let place = 0; this.#listing[this.#start] !== end; place += 1, this.#start += 1) {
      if (place < places) value = (value * base + this.#listing[this.#start]! - ZERO) % 2 ** 32;
    }
    this.#start += 1;
    return value;
  }
}

/** A list brought up to date at some paths and the folders they lie in; nothing else is looked at, and those stand at its end. */
export function relisted(root: string, listing: Buffer, paths: readonly string[]): Buffer {
  const stale = new Set([...paths, ...paths.flatMap(foldersOver)]);
  const pieces: Buffer[] = [];
  const record = new ListedRecord(listing);
  let from = 0;
  for (let start = 0; record.next(); start = record.end) {
    if (!stale.has(record.latin1())) continue;
    pieces.push(listing.subarray(from, start));
    from = record.end;
  }
  return Buffer.concat([
    ...pieces,
    listing.subarray(from),
    ...[...stale].map((path) => recordOf(root, pathFrom(path))),
  ]);
}

/** The folders a path lies in, the root included; none of the root itself. */
function foldersOver(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return path === "" ? [] : ["", ...names.map((_, i) => names.slice(0, i + 1).join("/"))];
}

/** Records chosen by what their numbers say, as lines. */
export function linesWhere(listing: Buffer, isWanted: (record: ListedRecord, at: number) => boolean): ListedLine[] {
  const lines: ListedLine[] = [];
  const record = new ListedRecord(listing);
  for (let at = 0, start = 0; record.next(); at += 1, start = record.end) {
    if (!isWanted(record, at)) continue;
    for (const [path, line] of linesOf(listing.subarray(start, record.end))) lines.push({ path, line, at });
  }
  return lines;
}

/** Where the path begins: after five fields. */
function afterFields(listing: Buffer, from: number): number {
  let at = from;
  for (let fields = 0; fields < 5; at += 1) if (listing[at] === SPACE) fields += 1;
  return at;
}

/** A path of `linesOf` as the rest of the product knows it, and back. */
export const pathFrom = (latin1: string): string => nameFrom(Buffer.from(latin1, "latin1"));
export const latin1Of = (path: string): string => Buffer.from(onDisk(path) as string).toString("latin1");
