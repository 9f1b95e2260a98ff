// Somebody else's folder, read once and as data: plain files with names that can travel, within limits. Links are never
// followed; whatever is not read is named with the reason.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathProblem } from "../bundle/index.js";
import { fromSystemError, isSystemError, NutError } from "../errors.js";
import { byBytes } from "../files/index.js";
import type { LeftOut, TaskFile } from "./model.js";

/** A task is text with a few data files; what is larger belongs to an image or a data set. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
const MAX_FILES = 20_000;
const MAX_DEPTH = 32;

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

export interface SourceFolder {
  readonly name: string;
  /** Absolute; only for what lies above the folder. */
  readonly path: string;
  /** Plain files by path from the folder, in byte order. */
  readonly files: ReadonlyMap<string, TaskFile>;
  /** What lies there and was not read. */
  readonly unread: readonly LeftOut[];
}

/** Throws FILE_NOT_FOUND, FILE_UNREADABLE, and IMPORT_UNFIT for what is no folder or too much. */
export function readSourceFolder(path: string): SourceFolder {
  const root = resolve(path);
  const stat = lstatSync(root, { throwIfNoEntry: false });
  if (stat === undefined) throw new NutError("FILE_NOT_FOUND", `${root}: no such folder`, { data: { path: root } });
  const files = new Map<string, TaskFile>();
  const unread: LeftOut[] = [];
  try {
    visit(root, "", { files, unread, bytes: 0 }, 0);
  } catch (error) {
    throw fromSystemError(error, root) ?? error;
  }
  const sorted = new Map([...files].sort(([a], [b]) => byBytes(a, b)));
  return { name: basename(root), path: root, files: sorted, unread };
}

interface Walk {
  readonly files: Map<string, TaskFile>;
  readonly unread: LeftOut[];
  bytes: number;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function visit(root: string, base: string, walk: Walk, depth: number): void {
  for (const raw of readdirSync(join(root, base), { encoding: "buffer" })) {
    const name = decoded(raw);
    if (name === null) {
      walk.unread.push({ what: `${base}${raw.toString("latin1")}`, why: "its name is not valid UTF-8" });
      continue;
    }
    if (base === "" && name === ".git") continue;
    const path = base + name;
    const problem = pathProblem(path);
    if (problem !== null) {
      walk.unread.push({ what: path, why: `it ${problem[1]}` });
      continue;
    }
    const stat = lstatSync(join(root, path));
    if (stat.isSymbolicLink()) walk.unread.push({ what: path, why: "it is a link, and links are not followed" });
    else if (stat.isDirectory()) {
      if (depth < MAX_DEPTH) visit(root, `${path}/`, walk, depth + 1);
      else walk.unread.push({ what: `${path}/`, why: `it is nested deeper than ${MAX_DEPTH} levels` });
    } else if (!stat.isFile()) walk.unread.push({ what: path, why: "it is not a plain file" });
    else take(root, path, walk);
  }
}

function take(root: string, path: string, walk: Walk): void {
  const file = readPlainFile(join(root, path));
  if (file === null) {
    walk.unread.push({ what: path, why: `it is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB` });
    return;
  }
  walk.bytes += file.data.length;
  if (walk.files.size >= MAX_FILES || walk.bytes > MAX_TOTAL_BYTES) {
    throw new NutError(
      "IMPORT_UNFIT",
      `${root} holds more than a task does (${MAX_FILES} files, ${MAX_TOTAL_BYTES / 1024 / 1024} MiB)`,
      { hint: "name the folder of one task", data: { path: root } },
    );
  }
  walk.files.set(path, file);
}

/** null when it is too large. The descriptor is looked at, so that what is read is what was judged. */
export function readPlainFile(path: string): TaskFile | null {
  const file = openSync(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
  try {
    const { size, mode } = fstatSync(file);
    if (size > MAX_FILE_BYTES) return null;
    const data = Buffer.alloc(size);
    let at = 0;
    for (let got = -1; at < size && got !== 0; at += got) got = readSync(file, data, at, size - at, at);
    return { data: data.subarray(0, at), executable: (mode & 0o100) !== 0 };
  } finally {
    closeSync(file);
  }
}

/** Larger than any file of rows that a person imports from. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024;

/** Throws FILE_NOT_FOUND, FILE_UNREADABLE, and IMPORT_UNFIT for what is no plain UTF-8 text. */
export function readTextFile(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new NutError("FILE_NOT_FOUND", `${path}: no such file`, { data: { path } });
  const unfit = (why: string) =>
    new NutError("IMPORT_UNFIT", `${path} ${why}`, { hint: "nutshell import --help", data: { path } });
  if (!stat.isFile()) throw unfit("is not a plain file");
  if (stat.size > MAX_TEXT_BYTES) throw unfit("is larger than 256 MiB");
  let data: Uint8Array;
  try {
    data = readFileSync(path);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    throw unfit("is not valid UTF-8");
  }
}

function decoded(name: Buffer): string | null {
  try {
    return decoder.decode(name);
  } catch {
    return null;
  }
}

/** A file's text; null when there is none, or it is not valid UTF-8. */
export function textOf(folder: Pick<SourceFolder, "files">, path: string): string | null {
  const file = folder.files.get(path);
  if (file === undefined) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file.data).replaceAll("\r\n", "\n");
  } catch {
    return null;
  }
}

const LEVELS_ABOVE = 5;

/** The first plain file of one of these names in a folder above, as far as the repository or a few levels reach. */
export function fileAbove(folder: SourceFolder, names: readonly string[]): { name: string; file: TaskFile } | null {
  let at = folder.path;
  for (let level = 0; level < LEVELS_ABOVE; level += 1) {
    if (lstatSync(join(at, ".git"), { throwIfNoEntry: false }) !== undefined) return null;
    const above = dirname(at);
    if (above === at) return null;
    at = above;
    for (const name of names) {
      if (lstatSync(join(at, name), { throwIfNoEntry: false })?.isFile() !== true) continue;
      const file = readable(join(at, name));
      if (file !== null) return { name, file };
    }
  }
  return null;
}

/** What lies above is a bonus: that it cannot be read is no reason to refuse the task. */
function readable(path: string): TaskFile | null {
  try {
    return readPlainFile(path);
  } catch (error) {
    if (isSystemError(error)) return null;
    throw error;
  }
}
