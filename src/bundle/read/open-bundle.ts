import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type Finding, NutError } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import { fileInput, streamInput } from "../archive/byte-input.js";
import { entryFindings } from "../archive/entry-findings.js";
import { type Limits, withLimits } from "../archive/limits.js";
import { MANIFEST_NAME, quoted } from "../archive/safe-path.js";
import { type Scan, type ScannedEntry, scan, scanManifest } from "../archive/scan.js";
import type { ArchiveEntry, EntrySink } from "../archive/tar-reader.js";
import type { Level } from "../compression/compressor.js";
import { type Compression, MAGIC, readMagic } from "../compression/decompress.js";
import { manifestFindings } from "../manifest/manifest.js";
import { treeRows } from "../manifest/tree.js";
import { digestOf } from "../write/content-digest.js";
import { type Packed, packFolder } from "../write/pack-folder.js";
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

/** Below this much content, one pass reads everything and later reads are free. */
const HELD_BYTES = 16 * 1024 ** 2;

class OpenedBundle implements Bundle {
  readonly manifest: Manifest;
  readonly manifestBytes: Buffer;
  readonly compression: Compression;
  readonly path: string;
  private readonly options: OpenOptions;
  private readonly remove: () => void;
  private whole: Promise<Scan> | null = null;
  private held: Promise<ReadonlyMap<string, Buffer>> | null = null;

  constructor(path: string, head: Scan, options: OpenOptions, remove: () => void) {
    this.path = path;
    this.manifest = head.manifest;
    this.manifestBytes = head.manifestBytes;
    this.compression = head.compression;
    this.options = options;
    this.remove = remove;
  }

  async list(): Promise<readonly BundleEntry[]> {
    const { entries } = await this.scanned();
    const { hash } = await import("node:crypto");
    const manifest: BundleEntry = {
      path: MANIFEST_NAME,
      kind: "file",
      size: this.manifestBytes.length,
      executable: false,
      hash: `sha256:${hash("sha256", this.manifestBytes, "hex")}`,
    };
    return [manifest, ...entries.map(withoutOffset)];
  }

  async read(path: string): Promise<Buffer> {
    if (path === MANIFEST_NAME) return Buffer.from(this.manifestBytes);
    if (this.isSmall()) {
      this.held ??= this.hold();
      const bytes = (await this.held).get(path);
      if (bytes === undefined) throw notFound(path);
      return Buffer.from(bytes);
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
    return path === MANIFEST_NAME || (await this.scanned()).entries.some((entry) => entry.path === path);
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
    await scan(fileInput(this.path), { ...scanOptions(this.options), visit });
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
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    this.remove();
  }

  private scanned(): Promise<Scan> {
    this.whole ??= scan(fileInput(this.path), { ...scanOptions(this.options), hashes: true });
    return this.whole;
  }

  private isSmall(): boolean {
    const claimed = this.manifest.files?.total_size_bytes;
    return typeof claimed === "number" && claimed <= HELD_BYTES;
  }

  /** Every file in memory. The claimed total decides whether to try; the limit holds whatever was claimed. */
  private async hold(): Promise<ReadonlyMap<string, Buffer>> {
    const files = new Map<string, Buffer>();
    const limits = { ...withLimits(this.options.limits), maxTotalBytes: 2 * HELD_BYTES };
    const visit = (entry: ArchiveEntry): EntrySink | null => {
      if (entry.kind === "folder") return null;
      const parts: Buffer[] = [];
      return {
        chunk: (bytes) => parts.push(Buffer.from(bytes)),
        end: () => files.set(entry.path, Buffer.concat(parts)),
      };
    };
    const result = await scan(fileInput(this.path), { ...scanOptions(this.options), limits, hashes: true, visit });
    for (const entry of result.entries) this.assertHash(entry);
    return files;
  }

  private async *pieces(path: string): AsyncGenerator<Buffer> {
    if (path === MANIFEST_NAME) {
      yield Buffer.from(this.manifestBytes);
      return;
    }
    // The archive pushes, the reader pulls: one decompressed piece's worth of the file waits in between.
    const { decompress } = await import("../compression/decompress.js");
    const { EntryPicker } = await import("../archive/entry-picker.js");
    const picker = new EntryPicker(path, withLimits(this.options.limits));
    const input = fileInput(this.path);
    try {
      const compression = await readMagic(input);
      for await (const piece of decompress(input, compression)) {
        this.options.signal?.throwIfAborted();
        yield* picker.push(piece);
        if (picker.done) break;
      }
    } finally {
      await input.close();
    }
    if (!picker.done) throw notFound(path);
    this.assertHash(picker.entry());
  }

  private assertHash({ path, hash }: Pick<ScannedEntry, "path" | "hash">): void {
    const row = treeRows(this.manifest).find((candidate) => candidate.path === path);
    if (row?.hash === undefined || hash === undefined || row.hash.toLowerCase() === hash) return;
    throw new NutError("BUNDLE_MISMATCH", `${path} does not have the hash in files.tree`, { data: { path } });
  }
}

function withoutOffset({ path, kind, size, executable, hash }: ScannedEntry): BundleEntry {
  return { path, kind, size, executable, hash };
}

function notFound(path: string): NutError {
  return new NutError("ENTRY_NOT_FOUND", `${quoted(path)} is not in the bundle`, {
    hint: "nutshell inspect <file> lists every entry",
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
