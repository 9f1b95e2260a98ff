// Unpacking writes into a fresh private folder beside the target, checks everything, and only then moves it into place.
// Files are created anew (never through what already lies there), so links planted on the way cannot be followed.
import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { type Finding, fromSystemError, isSystemError, NutError, shellWord } from "../../errors.js";
import { missingFolder, syncFolder, temporaryName } from "../../files/index.js";
import { sweepLeftovers } from "../../process/leftovers.js";
import type { Manifest } from "../../schema/manifest.js";
import { entryFindings } from "../archive/entry-findings.js";
import { type Scan, scan } from "../archive/scan.js";
import type { ArchiveEntry, EntrySink } from "../archive/tar-reader.js";
import { fileInput, streamInput } from "../compression/byte-input.js";
import type { Compression } from "../compression/decompress.js";
import { type Limits, withLimits } from "../format/limits.js";
import { asidePath } from "../format/obeyed.js";
import { MANIFEST_NAME, portabilityProblem, quoted } from "../format/safe-path.js";
import { digestOf } from "../write/content-digest.js";
import { FilesHere, type FileWriter, WriteFailure } from "./file-writer.js";
import { canWriteApart, FilesApart } from "./write-apart.js";

export interface UnpackProgress {
  readonly type: "entry_unpacked";
  readonly path: string;
  readonly bytes: number;
  readonly done: number;
}

export interface UnpackOptions {
  readonly limits?: Partial<Limits>;
  /** Entries (or folders) that may keep their place although programs obey them. */
  readonly trust?: readonly string[];
  /** Keeps everything in its place: for a folder no program is started in. */
  readonly trustAll?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (event: UnpackProgress) => void;
  /** The system whose naming rules hold; names it cannot hold are refused. */
  readonly platform?: NodeJS.Platform;
}

export interface Unpacked {
  readonly dir: string;
  /** Files written, the manifest included. */
  readonly files: number;
  readonly bytes: number;
  /** Paths set aside in `quarantine/`. */
  readonly quarantined: readonly string[];
  readonly findings: readonly Finding[];
  readonly manifest: Manifest;
  readonly compression: Compression;
  readonly contentDigest: string;
}

/** Unpacks a bundle. The target appears whole and verified, or not at all. */
export async function unpackBundle(
  source: string | Readable,
  target: string,
  options: UnpackOptions = {},
): Promise<Unpacked> {
  const dir = resolve(target);
  const isThere = assertFree(dir);
  sweepLeftovers(dirname(dir));
  const input = typeof source === "string" ? fileInput(source) : streamInput(source);
  const staging = temporaryName(dir);
  try {
    mkdirSync(staging, { mode: 0o700 });
  } catch (error) {
    await input.close();
    throw missingFolder(error, dir) ?? fromSystemError(error, dirname(dir)) ?? error;
  }
  const stage = new Stage(staging, options);
  try {
    const result = await scan(input, {
      limits: withLimits(options.limits),
      lenient: true,
      hashes: true,
      signal: options.signal,
      visit: (entry) => stage.entry(entry),
      turn: () => stage.turn(),
    });
    const findings = entryFindings(result);
    assertSound(findings);
    await stage.finish(result.manifestBytes);
    chmodSync(staging, 0o777 & ~process.umask());
    move(staging, dir, isThere);
    return summary(dir, result, findings, stage);
  } catch (error) {
    // Nobody may be writing there any more.
    await stage.close();
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
}

function summary(dir: string, result: Scan, findings: readonly Finding[], stage: Stage): Unpacked {
  const files = result.entries.filter(({ kind }) => kind === "file");
  return {
    dir,
    files: files.length + 1,
    bytes: files.reduce((sum, { size }) => sum + size, 0) + result.manifestBytes.length,
    quarantined: stage.quarantined,
    findings,
    manifest: result.manifest,
    compression: result.compression,
    contentDigest: digestOf(result.manifest, result.entries),
  };
}

/** What the manifest says and the archive does not hold to. */
function assertSound(findings: readonly Finding[]): void {
  const wrong = findings.filter(({ severity }) => severity === "error");
  if (wrong.length === 0) return;
  const more = wrong.length > 1 ? ` (and ${wrong.length - 1} more)` : "";
  throw new NutError("BUNDLE_MISMATCH", `${wrong[0]!.message}${more}`, {
    hint: "nutshell validate '<file>' lists everything; fetch the bundle again, or ask the sender to pack it again",
    data: { findings: wrong.slice(0, 100) },
  });
}

/** A new name (false), or an empty folder (true). A link, even to an empty folder, is refused: it may point anywhere. */
function assertFree(dir: string): boolean {
  let empty: boolean;
  try {
    empty = lstatSync(dir).isDirectory() && readdirSync(dir).length === 0;
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOENT") return false;
    throw fromSystemError(error, dir) ?? error;
  }
  if (!empty) {
    throw new NutError("FILE_EXISTS", `${dir} is already there`, {
      hint: `give another folder with -o, or move this one away: mv ${shellWord(dir)} ${shellWord(`${dir}.old`)}`,
      data: { path: dir },
    });
  }
  return true;
}

function move(staging: string, dir: string, isThere: boolean): void {
  try {
    // Windows moves no folder onto another, not even an empty one.
    if (isThere && process.platform === "win32") rmdirSync(dir);
    renameSync(staging, dir);
    try {
      syncFolder(dirname(dir));
    } catch (error) {
      rmSync(dir, { recursive: true, force: true });
      if (isThere) mkdirSync(dir);
      throw error;
    }
  } catch (error) {
    const busy = isSystemError(error) && ["ENOTEMPTY", "ENOTDIR", "EEXIST"].includes(error.code);
    if (busy)
      throw new NutError("FILE_EXISTS", `${dir} appeared while unpacking`, {
        hint: "give another folder: -o '<dir>'",
        data: { path: dir },
        cause: error,
      });
    throw fromSystemError(error, dir) ?? error;
  }
}

/** From so many files on a thread takes less time to start than it spares. */
const APART_FROM_FILES = 1500;

/** The folder being filled. */
class Stage {
  readonly quarantined: string[] = [];
  private readonly root: string;
  private readonly trust: readonly string[];
  private readonly options: UnpackOptions;
  private readonly made = new Set<string>([""]);
  private readonly here: FilesHere;
  private apart: FilesApart | null = null;
  private writer: FileWriter;
  private done = 0;

  constructor(root: string, options: UnpackOptions) {
    this.root = root;
    this.options = options;
    this.here = new FilesHere(root);
    this.writer = this.here;
    this.trust = (options.trust ?? []).map((path) => path.replace(/^\.\//, "").replace(/\/+$/, ""));
  }

  entry(entry: ArchiveEntry): EntrySink | null {
    const path = this.place(entry.path);
    if ((this.options.platform ?? process.platform) === "win32") assertPortable(path);
    if (entry.kind === "folder") {
      this.makeFolder(path);
      return null;
    }
    const slash = path.lastIndexOf("/");
    if (slash > 0) this.makeFolder(path.slice(0, slash));
    return this.write(path, entry);
  }

  /** Waits for whoever writes, if that is far behind. */
  async turn(): Promise<void> {
    try {
      await this.apart?.turn();
    } catch (error) {
      throw this.refusal(error);
    }
  }

  /** Writes the manifest, once all the rest is written. */
  async finish(manifest: Buffer): Promise<void> {
    try {
      await this.apart?.finish();
      this.here.begin(MANIFEST_NAME, false);
      this.here.write(manifest);
      this.here.end();
    } catch (error) {
      throw this.refusal(error);
    }
    await this.apart?.close();
  }

  async close(): Promise<void> {
    await this.apart?.close();
    this.here.close();
  }

  /** Where an entry goes: in its place, or aside if a program would act on it. */
  private place(path: string): string {
    const aside = this.options.trustAll === true ? null : asidePath(path);
    if (aside === null || this.trust.some((named) => path === named || path.startsWith(`${named}/`))) return path;
    this.quarantined.push(path);
    return aside;
  }

  /** Makes a folder and those above it, each once; one that is already there goes by another name in this bundle. */
  private makeFolder(path: string): void {
    if (this.made.has(path)) return;
    const slash = path.lastIndexOf("/");
    if (slash > 0) this.makeFolder(path.slice(0, slash));
    this.attempt(() => this.writer.folder(path));
    this.made.add(path);
  }

  private write(path: string, { executable, size }: ArchiveEntry): EntrySink {
    if (this.done === APART_FROM_FILES && canWriteApart()) this.writer = this.apart = new FilesApart(this.root);
    const { writer } = this;
    this.attempt(() => writer.begin(path, executable));
    return {
      chunk: (bytes) => this.attempt(() => writer.write(bytes)),
      end: () => {
        this.attempt(() => writer.end());
        this.done += 1;
        this.options.onProgress?.({ type: "entry_unpacked", path, bytes: size, done: this.done });
      },
    };
  }

  private attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw this.refusal(error);
    }
  }

  private refusal(error: unknown): unknown {
    if (!(error instanceof WriteFailure)) return error;
    const { path, cause } = error;
    if (isSystemError(cause) && cause.code === "EEXIST") {
      return new NutError("BUNDLE_UNSAFE_PATH", `entry ${quoted(path)} has the same name as another on this disk`, {
        hint: "unpack it on a file system that tells upper and lower case apart",
        data: { path },
      });
    }
    return fromSystemError(cause, join(this.root, path)) ?? cause;
  }
}

function assertPortable(path: string): void {
  const problem = portabilityProblem(path);
  if (problem !== null)
    throw new NutError("BUNDLE_UNSAFE_PATH", `entry ${quoted(path)} ${problem}`, { data: { path } });
}
