// The first look at a folder that may be large and that nobody works in yet. `find` lists it and `sha256sum` reads it, one for
// each processor, in a fraction of the time it takes us; where they are not GNU's, we look ourselves.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { byBytes } from "../files/index.js";
import { listAll, listAllBeside, stampedPaths } from "./listing.js";
import { CLOCK_GRAIN_MS, lookAt, type Tree, type TreeEntry } from "./tree.js";

export interface FirstLook {
  readonly tree: Tree;
  /** Tells later whether the folder is to the byte as it was then: a tenth of the time of a look. Never, where nobody can tell. */
  readonly isAsItWas: () => boolean;
}

/** A hash by path, and when reading the file had not begun yet. */
export type EarlyHashes = ReadonlyMap<string, { readonly hash: string; readonly beforeMs: number }>;

export interface FirstLookOptions {
  readonly skip: (path: string) => boolean;
  /** Files that were read beforehand. What was touched since, or hardly before, is read again. */
  readonly early?: Promise<EarlyHashes>;
}

/** What `lookAt` finds, for a folder with names that are text. */
export async function firstLook(
  folder: string,
  { skip, early = Promise.resolve(new Map()) }: FirstLookOptions,
): Promise<FirstLook> {
  const takenMs = Date.now();
  const listing = await listAllBeside(folder);
  const listed = listing === null ? [] : stampedPaths(listing);
  // A folder comes before what it holds.
  const left = new Set<string>();
  const seen = listed.filter(({ path }) => {
    const isLeft = left.has(path.slice(0, Math.max(0, path.lastIndexOf("/")))) || skip(path);
    if (isLeft) left.add(path);
    return !isLeft;
  });
  seen.sort((a, b) => byBytes(a.path, b.path));
  const known = await early;
  const isKnown = (path: string, changedMs: number) => changedMs + CLOCK_GRAIN_MS < (known.get(path)?.beforeMs ?? 0);
  const missing = seen.filter(({ path, type, changedMs }) => type === "file" && !isKnown(path, changedMs));
  const late = await hashesOf(
    folder,
    missing.map(({ path }) => path),
  );
  const isAsItWas = () => listing !== null && listAll(folder)?.equals(listing) === true;
  if (listing === null || late.size < missing.length) return { tree: lookAt(folder, { skip }), isAsItWas };
  const entries = seen.map(({ path, type, target, mode, size, stamp }): [string, TreeEntry & { stamp: string }] => {
    const isFile = type === "file";
    const hash = isFile ? (late.get(path) ?? known.get(path)!.hash) : type === "link" ? sha256(target) : "";
    const executable = isFile && (mode & 0o111) !== 0;
    return [path, { type, executable, size: isFile || type === "link" ? size : 0, hash, stamp }];
  });
  return { tree: { entries: new Map(entries), takenMs }, isAsItWas };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const PROGRAMS = ["/usr/bin/xargs", "/usr/bin/sha256sum"] as const;

/** How often somebody looks how far the files are, and how many are taken for written at once. */
const LOOK_MS = 30;
const STEP = 64;

/**
 * Reads files while they are being written, in this order, by somebody who ends with `written`. One that was read too early is
 * found out by its change time.
 */
export async function readBeside(
  folder: string,
  paths: readonly string[],
  written: Promise<unknown>,
): Promise<EarlyHashes> {
  const until = { isOver: false };
  const over = written
    .catch(() => {})
    .then(() => {
      until.isOver = true;
    });
  const sums = PROGRAMS.every((program) => existsSync(program)) ? new Sums(folder) : null;
  const before = new Map<string, number>();
  let at = 0;
  while (sums !== null && !until.isOver) {
    const start = at;
    while (at + STEP < paths.length && existsSync(join(folder, paths[at + STEP]!))) at += STEP;
    const beforeMs = Date.now();
    for (const path of paths.slice(start, at)) before.set(path, beforeMs);
    sums.add(paths.slice(start, at));
    await Promise.race([over, setTimeout(LOOK_MS)]);
  }
  const rows = (await sums?.end()) ?? [];
  return new Map(rows.map(([path, hash]) => [path, { hash, beforeMs: before.get(path)! }]));
}

/** By path. Not all are there where the programs are missing, are not GNU's, or could not read a file. */
async function hashesOf(folder: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (!PROGRAMS.every((program) => existsSync(program))) return new Map();
  const each = Math.ceil(paths.length / availableParallelism());
  const parts = paths.flatMap((_, index) => (index % each === 0 ? [paths.slice(index, index + each)] : []));
  const all = parts.map((part) => {
    const sums = new Sums(folder);
    sums.add(part);
    return sums.end();
  });
  return new Map((await Promise.all(all)).flat());
}

const SUM_LENGTH = 64;
/** It starts with as many as it has; more at once are quicker. */
const AT_ONCE = "1000";

/** One program that reads the files it is told of. */
class Sums {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #pieces: Buffer[] = [];
  readonly #closed: Promise<unknown>;

  constructor(folder: string) {
    const [xargs, sha256sum] = PROGRAMS;
    this.#child = spawn(xargs, ["-0", "-n", AT_ONCE, sha256sum, "-z", "--"], {
      cwd: folder,
      env: { LC_ALL: "C" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#child.stdout.on("data", (piece: Buffer) => this.#pieces.push(piece));
    // One that ended early, or could not be started, has printed less.
    for (const source of [this.#child, this.#child.stdin]) source.on("error", () => {});
    this.#closed = new Promise((resolve) => this.#child.once("close", resolve));
  }

  add(paths: readonly string[]): void {
    if (paths.length > 0) this.#child.stdin.write(paths.map((path) => `./${path}\0`).join(""));
  }

  /** Of every file that could be read, a row that is whole. */
  async end(): Promise<[string, string][]> {
    this.#child.stdin.end();
    await this.#closed;
    const rows = Buffer.concat(this.#pieces).toString("utf8").split("\0").slice(0, -1);
    return rows.map((row) => [row.slice(SUM_LENGTH + "  ./".length), row.slice(0, SUM_LENGTH)]);
  }
}
