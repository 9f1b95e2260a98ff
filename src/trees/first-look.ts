// The first look at a folder that may be large and that nobody works in yet. `find` lists it and `sha256sum` reads it, one for
// each processor, in a fraction of the time it takes us; where they are not GNU's, we look ourselves.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { byBytes } from "../files/index.js";
import { listAll, listAllBeside, stampedPaths } from "./listing.js";
import { CLOCK_GRAIN_MS, lookAt, type Tree, type TreeEntry } from "./tree.js";

export interface FirstLook {
  readonly tree: Tree;
  /** Tells later whether the folder is to the byte as it was then: a tenth of the time of a look. Never, where nobody can tell. */
  readonly isAsItWas: () => boolean;
}

export interface FirstLookOptions {
  readonly skip: (path: string) => boolean;
  /** Files that are most likely there: they are read while the folder is being listed. */
  readonly likely?: readonly string[];
}

/** What `lookAt` finds, for a folder with names that are text. */
export async function firstLook(folder: string, { skip, likely = [] }: FirstLookOptions): Promise<FirstLook> {
  const takenMs = Date.now();
  const early = hashesOf(folder, likely);
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
  // What was touched when it was read already, or hardly before, is read again.
  const isKnown = (path: string, changedMs: number) => known.has(path) && changedMs + CLOCK_GRAIN_MS < takenMs;
  const missing = seen.filter(({ path, type, changedMs }) => type === "file" && !isKnown(path, changedMs));
  const late = await hashesOf(
    folder,
    missing.map(({ path }) => path),
  );
  const isAsItWas = () => listing !== null && listAll(folder)?.equals(listing) === true;
  if (listing === null || late.size < missing.length) return { tree: lookAt(folder, { skip }), isAsItWas };
  const entries = seen.map(({ path, type, target, mode, size, stamp }): [string, TreeEntry & { stamp: string }] => {
    const isFile = type === "file";
    const hash = isFile ? (late.get(path) ?? known.get(path)!) : type === "link" ? sha256(target) : "";
    const executable = isFile && (mode & 0o111) !== 0;
    return [path, { type, executable, size: isFile || type === "link" ? size : 0, hash, stamp }];
  });
  return { tree: { entries: new Map(entries), takenMs }, isAsItWas };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

const PROGRAMS = ["/usr/bin/xargs", "/usr/bin/sha256sum"] as const;

/** By path. Not all are there where the programs are missing, are not GNU's, or could not read a file. */
async function hashesOf(folder: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (!PROGRAMS.every((program) => existsSync(program))) return new Map();
  const each = Math.ceil(paths.length / availableParallelism());
  const parts = paths.flatMap((_, index) => (index % each === 0 ? [paths.slice(index, index + each)] : []));
  return new Map((await Promise.all(parts.map((part) => sums(folder, part)))).flat());
}

const SUM_LENGTH = 64;

async function sums(folder: string, paths: readonly string[]): Promise<[string, string][]> {
  const [xargs, sha256sum] = PROGRAMS;
  const child = spawn(xargs, ["-0", sha256sum, "-z", "--"], {
    cwd: folder,
    env: { LC_ALL: "C" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const pieces: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
  // One that ended early says so by its status.
  child.stdin.on("error", () => {});
  child.stdin.end(paths.map((path) => `./${path}\0`).join(""));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) return [];
  const rows = Buffer.concat(pieces).toString("utf8").split("\0").slice(0, -1);
  return rows.map((row) => [row.slice(SUM_LENGTH + "  ./".length), row.slice(0, SUM_LENGTH)]);
}
