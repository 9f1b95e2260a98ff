// The first look at a folder that may be large and that nobody works in yet. `find` lists it and `sha256sum` reads it, one for
// each processor, in a fraction of the time it takes us; where they are not GNU's, we look ourselves.
import { spawn } from "node:child_process";
import { hash as hashOf } from "node:crypto";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { sortByBytes } from "../files/index.js";
import type { IndexNotes } from "./git/index-notes.js";
import { digestAllBeside, ListedRecord, listAll, listAllBeside, stampedPaths } from "./listing.js";
import { sharingTexts } from "./shared-texts.js";
import { lookAt, type Remembered, type StampedEntry, slowly, type Tree, without } from "./tree.js";

/** What a folder must hold, because git just wrote it. */
export interface Written {
  /** Every file and folder. */
  readonly entries: Tree["entries"];
  /** What git noted of each file as it wrote it; null when it cannot be read. */
  readonly notes: () => IndexNotes | null;
}

/** What `lookAt` finds, for a folder with names that are text. Where it is as git just wrote it, no file is read. */
export async function firstLook(
  folder: string,
  skip: (path: string) => boolean,
  written: Written | null = null,
): Promise<Remembered> {
  const takenMs = Date.now();
  const listed = listAllBeside(folder);
  const notes = written === null ? null : written.notes();
  const listing = await listed;
  if (listing === null) return slowly(lookAt(folder, { skip }));
  const digest = sha256(listing);
  // A tenth of the time of a look.
  const later = {
    isAsItWas: () => digestAll(folder) === digest,
    isAsItWasBeside: async () => (await digestAllBeside(folder)) === digest,
  };
  if (written !== null && notes !== null && isAsNoted(listing, written.entries, notes)) {
    return { tree: without({ entries: written.entries, takenMs, whole: true }, skip), ...later };
  }
  const entries = entriesOf(listing, skip);
  const files: string[] = [];
  for (const [path, { type }] of entries) if (type === "file") files.push(path);
  const isRead = await readAll(folder, files, (path, hash) => {
    entries.get(path)!.hash = hash;
  });
  return { tree: isRead ? { entries: sharingTexts(entries), takenMs } : lookAt(folder, { skip }), ...later };
}

/** Whether the list names these entries and no other, and every file of them is as git left it. */
function isAsNoted(listing: Buffer, entries: Tree["entries"], notes: IndexNotes): boolean {
  const record = new ListedRecord(listing);
  // The first is the folder itself.
  let count = -1;
  for (; record.next(); count += 1) {
    const path = record.path();
    if (path === "") continue;
    const entry = entries.get(path);
    if (entry?.type !== record.type) return false;
    if (entry.type === "folder") continue;
    const executable = entry.type === "file" && (record.mode & 0o111) !== 0;
    if (executable !== entry.executable || !notes.has(path, record)) return false;
  }
  return count === entries.size;
}

type Unread = { -readonly [K in keyof StampedEntry]: StampedEntry[K] };

/** In path order; the hashes of files are not known yet. */
function entriesOf(listing: Buffer, skip: (path: string) => boolean): Map<string, Unread> {
  const found = new Map<string, Unread>();
  // A folder comes before what it holds.
  const left = new Set<string>();
  for (const { path, type, mode, size, target, stamp } of stampedPaths(listing)) {
    if (left.has(path.slice(0, Math.max(0, path.lastIndexOf("/")))) || skip(path)) {
      left.add(path);
      continue;
    }
    const hasBytes = type === "file" || type === "link";
    const executable = type === "file" && (mode & 0o111) !== 0;
    const hash = type === "link" ? sha256(target) : "";
    found.set(path, { type, executable, size: hasBytes ? size : 0, hash, stamp });
  }
  const entries = new Map<string, Unread>();
  for (const path of sortByBytes([...found.keys()])) entries.set(path, found.get(path)!);
  return entries;
}

function digestAll(folder: string): string | null {
  const listing = listAll(folder);
  return listing === null ? null : sha256(listing);
}

const sha256 = (bytes: Uint8Array): string => hashOf("sha256", bytes, "hex");

const PROGRAMS = ["/usr/bin/xargs", "/usr/bin/sha256sum"] as const;

type TakeHash = (path: string, hash: string) => void;

/** Whether every file was read: not where the programs are missing, are not GNU's, or could not read one. */
async function readAll(folder: string, paths: readonly string[], take: TakeHash): Promise<boolean> {
  if (!PROGRAMS.every((program) => existsSync(program))) return false;
  const each = Math.ceil(paths.length / availableParallelism());
  const parts = paths.flatMap((_, index) => (index % each === 0 ? [paths.slice(index, index + each)] : []));
  return (await Promise.all(parts.map((part) => readPart(folder, part, take)))).every((isRead) => isRead);
}

const SUM_LENGTH = 64;
/** What comes between a sum and the path. */
const BETWEEN = "  ./".length;
/** It starts with as many as it has; more at once are quicker. */
const AT_ONCE = "1000";

/** One program reads the files one after the other, and says so in that order. */
async function readPart(folder: string, paths: readonly string[], take: TakeHash): Promise<boolean> {
  const [xargs, sha256sum] = PROGRAMS;
  const child = spawn(xargs, ["-0", "-n", AT_ONCE, sha256sum, "-z", "--"], {
    cwd: folder,
    env: { LC_ALL: "C" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  // One that ended early, or could not be started, has printed less.
  for (const source of [child, child.stdin]) source.on("error", () => {});
  const closed = new Promise((resolve) => child.once("close", resolve));
  let count = 0;
  let rest: Buffer = Buffer.alloc(0);
  child.stdout.on("data", (piece: Buffer) => {
    const text = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    for (let end = text.indexOf(0); end >= 0; end = text.indexOf(0, at)) {
      const path = text.toString("utf8", at + SUM_LENGTH + BETWEEN, end);
      if (path === paths[count]) {
        take(path, text.toString("latin1", at, at + SUM_LENGTH));
        count += 1;
      }
      at = end + 1;
    }
    rest = text.subarray(at);
  });
  child.stdin.end(paths.map((path) => `./${path}\0`).join(""));
  await closed;
  return count === paths.length;
}
