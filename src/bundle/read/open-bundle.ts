import { hash } from "node:crypto";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type Finding, NutError } from "../../errors.js";
import { clearAway } from "../../files/index.js";
import type { Manifest } from "../../schema/manifest.js";
import { entryFindings } from "../archive/entry-findings.js";
import { type Scan, type ScannedEntry, scan, scanFile, scanManifest } from "../archive/scan.js";
import type { ArchiveEntry, EntrySink } from "../archive/tar-reader.js";
import { fileInput, streamInput } from "../compression/byte-input.js";
import type { Level } from "../compression/compressor.js";
import { type Compression, MAGIC, readMagic } from "../compression/decompress.js";
import { type Limits, withLimits } from "../format/limits.js";
import { MANIFEST_NAME, quoted } from "../format/safe-path.js";
import { manifestFindings } from "../manifest/manifest.js";
import { treeHashes } from "../manifest/tree.js";
import { digestOf } from "../write/content-digest.js";
import { type Packed, packFolder } from "../write/pack-folder.js";
import { DiskStore, type FileStore, MemoryStore } from "./file-store.js";
import { unpackBundle } from "./unpack-bundle.js";

export interface OpenOptions {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** Accepts a manifest whose fields have wrong types: for those who judge or show it. */
  readonly lenient?: boolean;
  /** Accepts a newer MAJOR version: for those who only look. */
  readonly newer?: boolean;
  /** Where a stream is kept while it is open. */
  readonly tempDir?: string;
  /** A file that will be read once the whole was: the pass over the whole keeps it, unless it is large. */
  readonly keep?: string;
}

export interface BundleEntry {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly size: number;
  readonly executable: boolean;
  /** `sha256:<hex>` of the bytes that are really there; absent for folders. */
  readonly hash?: string | undefined;
}

export interface RepackOptions {
  readonly output: string;
  readonly compression?: Compression;
  readonly level?: Level;
  readonly manifest?: Manifest;
  readonly completeness?: Manifest["completeness"];
  readonly signal?: AbortSignal;
}

export interface Bundle {
  readonly manifest: Manifest;
  readonly manifestBytes: Buffer;
  readonly compression: Compression;
  /** The file that is read: the one given, or the copy of a stream. */
  readonly path: string;
  /** Every entry, the manifest first. Reads the bundle to its end, once. */
  list(): Promise<readonly BundleEntry[]>;
  /** A file's bytes, checked against files.tree. Throws ENTRY_NOT_FOUND. */
  read(path: string): Promise<Buffer>;
  /** The same as text; throws BUNDLE_CORRUPT when it is not UTF-8. */
  readText(path: string): Promise<string>;
  /** A file's bytes as a stream, for files too large to hold. */
  stream(path: string): Readable;
  has(path: string): Promise<boolean>;
  byPrefix(prefix: string): Promise<readonly BundleEntry[]>;
  /** Everything wrong or noteworthy: archive, tree, hashes, schema. Damage is a finding here, not an error. */
  verify(): Promise<readonly Finding[]>;
  /** Visits every file's bytes in one pass, the manifest aside. */
  each(visit: (entry: ArchiveEntry) => EntrySink | null): Promise<void>;
  contentDigest(): Promise<string>;
  /** Writes the same content as another bundle. */
  repack(options: RepackOptions): Promise<Packed>;
  close(): Promise<void>;
}

/** Opens a bundle and reads its manifest: of a file no more than that, a stream is kept in a temporary file. */
export async function openBundle(source: string | Readable, options: OpenOptions = {}): Promise<Bundle> {
  const spooled = typeof source === "string" ? null : await spool(source, options);
  const path = spooled?.path ?? (source as string);
  try {
    const head = await scanManifest(fileInput(path, { firstPiece: 16 * 1024 }), scanOptions(options));
    return new OpenedBundle(path, head, options, spooled?.remove ?? (() => {}));
  } catch (error) {
    spooled?.remove();
    throw error;
  }
}

function scanOptions({ limits, signal, lenient = false, newer = false }: OpenOptions) {
  return { limits: withLimits(limits), signal, lenient, newer };
}

/** Below this much content the first read takes all files into memory. */
const HELD_BYTES = 16 * 1024 ** 2;
/** Each read of a larger bundle decompresses it from its start; after so many a copy on the disk is cheaper. */
const READS_FROM_START = 8;

interface FilledStore {
  readonly store: FileStore;
  /** path → hash of the bytes that are really there. */
  readonly hashes: ReadonlyMap<string, string | undefined>;
}

class OpenedBundle implements Bundle {
  readonly manifest: Manifest;
  readonly manifestBytes: Buffer;
  readonly compression: Compression;
  readonly path: string;
  private readonly options: OpenOptions;
  private readonly remove: () => void;
  /** path → hash the manifest states. */
  private readonly stated: ReadonlyMap<string, string>;
  private whole: Promise<Scan> | null = null;
  private entries: Promise<ReadonlyMap<string, BundleEntry>> | null = null;
  private files: Promise<FilledStore> | null = null;
  private kept: Buffer | null = null;
  private reads = 0;

  constructor(path: string, head: Scan, options: OpenOptions, remove: () => void) {
    this.path = path;
    this.manifest = head.manifest;
    this.manifestBytes = head.manifestBytes;
    this.compression = head.compression;
    this.options = options;
    this.remove = remove;
    this.stated = treeHashes(this.manifest);
  }

  async list(): Promise<readonly BundleEntry[]> {
    return [...(await this.byPath()).values()];
  }

  async read(path: string): Promise<Buffer> {
    if (path === MANIFEST_NAME) return Buffer.from(this.manifestBytes);
    if (path === this.options.keep && this.kept !== null) {
      this.assertHash(path, `sha256:${hash("sha256", this.kept, "hex")}`);
      return Buffer.from(this.kept);
    }
    const filled = await this.filled();
    if (filled !== null) {
      const bytes = filled.store.read(path);
      if (bytes === null) throw notFound(path);
      this.assertHash(path, filled.hashes.get(path));
      return bytes;
    }
    const parts: Buffer[] = [];
    for await (const part of this.pieces(path)) parts.push(part);
    return Buffer.concat(parts);
  }

  async readText(path: string): Promise<string> {
    const bytes = await this.read(path);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new NutError("BUNDLE_CORRUPT", `${path} is not text in UTF-8`, { data: { path } });
    }
  }

  stream(path: string): Readable {
    return Readable.from(this.pieces(path), { objectMode: false });
  }

  async has(path: string): Promise<boolean> {
    return (await this.byPath()).has(path);
  }

  async byPrefix(prefix: string): Promise<readonly BundleEntry[]> {
    return (await this.list()).filter(({ path }) => path.startsWith(prefix));
  }

  async verify(): Promise<readonly Finding[]> {
    const schema = manifestFindings(this.manifest);
    try {
      return [...schema, ...entryFindings(await this.scanned())];
    } catch (error) {
      if (!(error instanceof NutError)) throw error;
      const path = typeof error.data.path === "string" ? error.data.path : this.path;
      return [...schema, { code: error.code, severity: "error", path, message: error.message }];
    }
  }

  async each(visit: (entry: ArchiveEntry) => EntrySink | null): Promise<void> {
    await scan(fileInput(this.path), { ...scanOptions(this.options), known: this, visit });
  }

  async contentDigest(): Promise<string> {
    return digestOf(this.manifest, (await this.scanned()).entries);
  }

  async repack(options: RepackOptions): Promise<Packed> {
    const folder = mkdtempSync(join(this.options.tempDir ?? tmpdir(), "nut-repack-"));
    try {
      const { dir } = await unpackBundle(this.path, join(folder, "content"), {
        ...(this.options.limits ? { limits: this.options.limits } : {}),
        ...(options.signal ? { signal: options.signal } : {}),
        trustAll: true,
      });
      return await packFolder(dir, { compression: this.compression, ...options, ignoreRules: false });
    } finally {
      clearAway(folder);
    }
  }

  async close(): Promise<void> {
    const filled = await this.files?.catch(() => null);
    filled?.store.close();
    this.remove();
  }

  private scanned(): Promise<Scan> {
    const visit = (entry: ArchiveEntry) => this.keeping(entry);
    this.whole ??= scan(fileInput(this.path), { ...scanOptions(this.options), known: this, hashes: true, visit });
    return this.whole;
  }

  private keeping({ path, kind, size }: ArchiveEntry): EntrySink | null {
    if (path !== this.options.keep || kind !== "file" || size > HELD_BYTES) return null;
    const parts: Buffer[] = [];
    return {
      chunk: (bytes) => parts.push(Buffer.from(bytes)),
      end: () => {
        this.kept = Buffer.concat(parts);
      },
    };
  }

  private byPath(): Promise<ReadonlyMap<string, BundleEntry>> {
    this.entries ??= this.scanned().then(({ entries }) => {
      const manifest: BundleEntry = {
        path: MANIFEST_NAME,
        kind: "file",
        size: this.manifestBytes.length,
        executable: false,
        hash: `sha256:${hash("sha256", this.manifestBytes, "hex")}`,
      };
      return new Map([manifest, ...entries.map(withoutOffset)].map((entry) => [entry.path, entry]));
    });
    return this.entries;
  }

  /** Every file with its hash, read in one pass; null while reading from the start costs less. */
  private async filled(): Promise<FilledStore | null> {
    this.reads += 1;
    const claimed = this.manifest.files?.total_size_bytes;
    const isSmall = typeof claimed === "number" && claimed <= HELD_BYTES;
    if (!isSmall && this.reads <= READS_FROM_START) return null;
    const limits = withLimits(this.options.limits);
    this.files ??= isSmall
      ? // The claimed total decides whether to try; the limit holds whatever was claimed.
        this.fill(new MemoryStore(), { ...limits, maxTotalBytes: 2 * HELD_BYTES })
      : this.fill(new DiskStore(this.options.tempDir ?? tmpdir()), limits);
    return this.files;
  }

  private async fill(store: FileStore, limits: Limits): Promise<FilledStore> {
    const visit = (entry: ArchiveEntry) => (entry.kind === "folder" ? null : store.add(entry.path));
    const options = { ...scanOptions(this.options), limits, known: this, hashes: true, visit };
    try {
      const { entries } = await scan(fileInput(this.path), options);
      return { store, hashes: new Map(entries.map(({ path, hash }) => [path, hash])) };
    } catch (error) {
      store.close();
      throw error;
    }
  }

  private async *pieces(path: string): AsyncGenerator<Buffer> {
    if (path === MANIFEST_NAME) {
      yield Buffer.from(this.manifestBytes);
      return;
    }
    const fileHash = yield* scanFile(fileInput(this.path), path, scanOptions(this.options));
    if (fileHash === null) throw notFound(path);
    this.assertHash(path, fileHash);
  }

  private assertHash(path: string, actual: string | undefined): void {
    const stated = this.stated.get(path);
    if (stated === undefined || stated === actual) return;
    throw new NutError("BUNDLE_MISMATCH", `${path} does not have the hash in files.tree`, { data: { path } });
  }
}

function withoutOffset({ path, kind, size, executable, hash }: ScannedEntry): BundleEntry {
  return { path, kind, size, executable, hash };
}

function notFound(path: string): NutError {
  return new NutError("ENTRY_NOT_FOUND", `${quoted(path)} is not in the bundle`, {
    hint: "nutshell inspect '<file>' lists every entry",
    data: { path },
  });
}

/** Keeps a stream in a private temporary file, once its first bytes look like a bundle. */
async function spool(stream: Readable, options: OpenOptions): Promise<{ path: string; remove: () => void }> {
  const input = streamInput(stream);
  const limits = withLimits(options.limits);
  let folder: string | null = null;
  const remove = () => {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  };
  try {
    await readMagic(input);
    folder = mkdtempSync(join(options.tempDir ?? tmpdir(), "nut-stream-"));
    const path = join(folder, "bundle.nut");
    const file = openSync(path, "wx", 0o600);
    try {
      writeSync(file, MAGIC);
      for (let piece = await input.next(); piece !== null; piece = await input.next()) {
        options.signal?.throwIfAborted();
        for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
        if (input.consumed > limits.maxTotalBytes) throw new NutError("BUNDLE_LIMIT", "the bundle does not end", {});
      }
    } finally {
      closeSync(file);
    }
    return { path, remove };
  } catch (error) {
    remove();
    throw error;
  } finally {
    await input.close();
  }
}
