import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { fromSystemError, isSystemError, NutError } from "../../errors.js";
import { keepSpelling } from "../../files/index.js";
import type { Manifest, TreeRow } from "../../schema/manifest.js";
import type { Level } from "../compression/compressor.js";
import type { Compression } from "../compression/decompress.js";
import { formatManifest, readManifest } from "../manifest/manifest.js";
import { treeRows } from "../manifest/tree.js";
import { BundleWriter, type Seal } from "./bundle-writer.js";
import { digestOf } from "./content-digest.js";
import { folderTokens } from "./folder-tokens.js";
import { type FolderEntry, type Listing, listFolder } from "./list-folder.js";
import { type Looker, lookHere, type Observer } from "./look.js";

export interface PackProgress {
  readonly type: "entry_packed";
  readonly path: string;
  readonly bytes: number;
  readonly done: number;
  readonly total: number;
}

export interface PackOptions {
  readonly output: string;
  /** Refuses to replace a file that is there when everything is packed. */
  readonly isNew?: boolean | undefined;
  /** Writes the sealed bundle only; bytes and hash are then those of the sealed file. */
  readonly seal?: Seal | undefined;
  readonly compression?: Compression;
  readonly level?: Level;
  /** Packed instead of the folder's own nutshell.json, which is left alone. */
  readonly manifest?: Manifest;
  /** Recorded as the estimate of what an agent may read, when the caller has it already. */
  readonly contextTokens?: number;
  /** The judgement to record; without it the manifest's own stays. */
  readonly completeness?: Manifest["completeness"];
  /** False packs what .nutignore would leave out. */
  readonly ignoreRules?: boolean;
  /** What to pack, when the caller has listed it already. */
  readonly listing?: Listing;
  readonly signal?: AbortSignal;
  readonly onProgress?: (event: PackProgress) => void;
  /** Asked for every file; a leak scan looks here. Throwing stops the pack and leaves nothing behind. */
  readonly observe?: (path: string) => Observer | null;
  /** Who hashes and looks, when it is not this thread; then nobody is asked by `observe`. */
  readonly look?: Looker | undefined;
  /** Called when everything is read and before the bundle appears. Throwing leaves nothing behind. */
  readonly approve?: (manifest: Manifest) => void | Promise<void>;
}

export interface Packed {
  readonly path: string;
  readonly bytes: number;
  /** `sha256:<hex>` of the whole .nut file. */
  readonly hash: string;
  readonly contentDigest: string;
  /** Files, the manifest included. */
  readonly files: number;
  /** Bytes of all files as they lie in the folder, the manifest included. */
  readonly originalBytes: number;
  /** The manifest as it was packed. */
  readonly manifest: Manifest;
  readonly left: Listing["left"];
}

interface PackedEntry extends FolderEntry {
  readonly hash?: string;
}

/** Packs a folder into one bundle. The output appears whole or not at all. */
export async function packFolder(folder: string, options: PackOptions): Promise<Packed> {
  const { compression = "gzip", level = "default", signal } = options;
  const output = resolve(options.output);
  const author = options.manifest ?? readManifest(folder);
  const { ignoreRules } = options;
  const listing = options.listing ?? listFolder(folder, { exclude: [output], signal, ignoreRules });
  const look = options.look ?? lookHere(options.observe);
  const writer = await BundleWriter.open({
    output,
    isNew: options.isNew,
    compression,
    level,
    seal: options.seal,
    look,
  });
  try {
    const packed = await packEntries(writer, resolve(folder), listing, options);
    await writer.end();
    const entries = withHashes(packed, await look.hashes());
    const originalBytes = entries.reduce((sum, { size }) => sum + size, 0);
    const manifest = packedManifest(author, entries, options.completeness, {
      algorithm: compression,
      original_size_bytes: originalBytes,
      compressed_size_bytes: writer.compressedBytes,
      context_tokens_estimate: options.contextTokens ?? folderTokens(folder, author, listing),
    });
    await options.approve?.(manifest);
    signal?.throwIfAborted();
    const written = await writer.commit(Buffer.from(formatManifest(manifest), "utf8"));
    return {
      path: output,
      ...written,
      contentDigest: digestOf(manifest, entries),
      files: entries.filter(({ kind }) => kind === "file").length + 1,
      originalBytes: originalBytes + listing.manifestBytes,
      manifest,
      left: listing.left,
    };
  } finally {
    writer.discard();
  }
}

async function packEntries(
  writer: BundleWriter,
  root: string,
  listing: Listing,
  { signal, onProgress }: PackOptions,
): Promise<FolderEntry[]> {
  const entries: FolderEntry[] = [];
  const total = listing.entries.length;
  for (const entry of listing.entries) {
    signal?.throwIfAborted();
    if (entry.kind === "folder") {
      await writer.add(entry);
      entries.push(entry);
    } else {
      if (entry.size <= SMALL_BYTES) await writer.makeRoom(entry.size);
      entries.push(packSmall(writer, root, entry) ? entry : await packFile(writer, root, entry));
    }
    onProgress?.({ type: "entry_packed", path: entry.path, bytes: entry.size, done: entries.length, total });
  }
  return entries;
}

/** Files up to this size are read with one call and never cut by a block's end. */
const SMALL_BYTES = 64 * 1024;

/** Packs a file that is small and still as long as it was when listed; otherwise false, and nothing was packed. */
function packSmall(writer: BundleWriter, root: string, entry: FolderEntry): boolean {
  if (entry.size > SMALL_BYTES) return false;
  const file = openSource(`${root}${sep}${entry.path}`);
  try {
    return writer.addSmall(entry, (target, at, length) => readSync(file, target, at, length, null));
  } catch (error) {
    // The careful way meets it again and says it in words.
    if (!isSystemError(error)) throw error;
    return false;
  } finally {
    closeSync(file);
  }
}

async function packFile(writer: BundleWriter, root: string, entry: FolderEntry): Promise<FolderEntry> {
  const source = new SourceFile(join(root, entry.path), entry.path);
  try {
    await writer.add({ ...entry, size: source.size }, (target) => source.fill(target));
    source.end();
    const { path, kind, executable } = entry;
    return { path, kind, size: source.size, executable };
  } finally {
    source.close();
  }
}

function withHashes(entries: readonly FolderEntry[], hashes: readonly string[]): PackedEntry[] {
  let files = 0;
  return entries.map((entry) => {
    if (entry.kind === "folder") return entry;
    files += 1;
    return withHash(entry, entry.size, hashes[files - 1]!);
  });
}

/** Spelt out: V8 gives every object a shape of its own that is a copy and a new field, which takes more room than the object. */
function withHash({ path, kind, executable }: FolderEntry, size: number, digest: string): PackedEntry {
  return { path, kind, size, executable, hash: digest };
}

/** The listing saw a regular file; a link or a pipe put in its place since then is neither followed nor waited for. */
function openSource(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

export interface DigestOptions {
  readonly manifest?: Manifest;
  readonly signal?: AbortSignal;
  /** False for what was unpacked: all of it was in the bundle. */
  readonly ignoreRules?: boolean;
}

/** The digest `packFolder` would report, without packing. */
export function contentDigest(folder: string, options: DigestOptions = {}): string {
  const listing = listFolder(folder, { signal: options.signal, ignoreRules: options.ignoreRules });
  const manifest = options.manifest ?? readManifest(folder);
  return digestOf(manifest, hashEntries(folder, listing));
}

/** Reads and hashes what a listing names. */
export function hashEntries(folder: string, listing: Listing): (FolderEntry & { readonly hash?: string })[] {
  const root = resolve(folder);
  const buffer = Buffer.allocUnsafeSlow(256 * 1024);
  return listing.entries.map((entry) => {
    if (entry.kind === "folder") return entry;
    const source = new SourceFile(join(root, entry.path), entry.path);
    try {
      const digest = createHash("sha256");
      for (let left = source.size; left > 0; ) {
        const length = source.fill(buffer.subarray(0, Math.min(left, buffer.length)));
        digest.update(buffer.subarray(0, length));
        left -= length;
      }
      source.end();
      return withHash(entry, source.size, `sha256:${digest.digest("hex")}`);
    } finally {
      source.close();
    }
  });
}

/** A file being packed: read once, refused if it does not hold still. */
class SourceFile {
  readonly size: number;
  private readonly file: number;
  private readonly path: string;

  constructor(full: string, path: string) {
    this.path = path;
    this.file = openSource(full);
    const stats = fstatSync(this.file);
    if (!stats.isFile()) {
      closeSync(this.file);
      throw changed(path, "is no longer a file");
    }
    this.size = stats.size;
  }

  fill(target: Buffer): number {
    let length: number;
    try {
      length = readSync(this.file, target, 0, target.length, null);
    } catch (error) {
      throw fromSystemError(error, this.path) ?? error;
    }
    if (length === 0) throw changed(this.path, "became shorter");
    return length;
  }

  /** Once everything was read: is it all? */
  end(): void {
    if (readSync(this.file, PROBE, 0, 1, null) !== 0) throw changed(this.path, "became longer");
  }

  close(): void {
    closeSync(this.file);
  }
}

const PROBE = Buffer.alloc(1);

function changed(path: string, what: string): NutError {
  return new NutError("SOURCE_CHANGED", `${path} ${what} while it was packed`, {
    hint: "pack again when nothing writes to the folder",
    data: { path },
  });
}

/** The author's manifest with the computed fields filled in; an author's role and notes stay with their file. */
function packedManifest(
  author: Manifest,
  entries: readonly PackedEntry[],
  completeness: Manifest["completeness"],
  compression: NonNullable<Manifest["compression"]>,
): Manifest {
  const notes = new Map(treeRows(author).map((row) => [row.path, row]));
  const tree = entries
    .filter(({ kind }) => kind === "file")
    .map(({ path, size, hash: digest, executable }): TreeRow => {
      const note = notes.get(path);
      if (note === undefined)
        return executable ? { path, size, hash: digest, executable } : { path, size, hash: digest };
      const { path: _path, size: _size, hash: _hash, executable: _run, ...rest } = note;
      const run = executable ? { executable } : {};
      return keepSpelling({ path, size, hash: digest, ...run, ...rest }, note);
    });
  const totalBytes = tree.reduce((sum, { size }) => sum + size, 0);
  const packed: Manifest = {
    ...author,
    files: { ...author.files, total_count: tree.length, total_size_bytes: totalBytes, tree },
    ...(completeness === undefined ? {} : { completeness: { ...author.completeness, ...completeness } }),
    compression: { ...author.compression, ...compression },
  };
  for (const field of ["files", "completeness", "compression"] as const) {
    if (packed[field] !== undefined) keepSpelling(packed[field], author[field]);
  }
  return keepSpelling(packed, author);
}
