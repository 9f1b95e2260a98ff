// One pass over a bundle: magic, decompression, archive, manifest, hashes. Everything that reads bundles reads them here.
import { createHash, type Hash, hash } from "node:crypto";
import { type Finding, NutError } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import type { ByteInput } from "../compression/byte-input.js";
import { type Compression, decompress, readMagic } from "../compression/decompress.js";
import { type Limits, MAX_MANIFEST_BYTES, MAX_RATIO, RATIO_FREE_BYTES } from "../format/limits.js";
import { MANIFEST_NAME } from "../format/safe-path.js";
import { type ManifestOptions, parseManifest } from "../manifest/manifest.js";
import { type ArchiveEntry, type EntrySink, TarReader } from "./tar-reader.js";

export interface ScannedEntry extends ArchiveEntry {
  /** `sha256:<hex>` of a file's bytes; absent for folders and when hashing was not asked for. */
  readonly hash?: string;
}

export interface ScanOptions extends ManifestOptions {
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
  /** Hashes every file. */
  readonly hashes?: boolean;
  /** Receives every entry but the manifest. */
  readonly visit?: (entry: ArchiveEntry) => EntrySink | null;
  /** The manifest as an earlier pass read it: while its bytes are the same it is neither kept nor parsed again. */
  readonly known?: KnownManifest;
  /** Awaited after every piece: whoever takes the entries may be slower than their reader. */
  readonly turn?: () => Promise<void>;
  /** Asked after every piece; true ends the pass early. */
  readonly enough?: (pass: { readonly manifest: Manifest | null }) => boolean;
}

export interface KnownManifest {
  readonly manifest: Manifest;
  readonly manifestBytes: Buffer;
}

export interface Scan {
  readonly compression: Compression;
  readonly manifest: Manifest;
  readonly manifestBytes: Buffer;
  /** In archive order, the manifest aside. */
  readonly entries: readonly ScannedEntry[];
  readonly findings: readonly Finding[];
}

/** Reads a bundle once. Throws at the first thing that is unsafe or damaged; closes the input. */
export async function scan(input: ByteInput, options: ScanOptions): Promise<Scan> {
  const pass = new Pass(options);
  for await (const compression of readArchive(input, options, pass.reader)) {
    pass.compression = compression;
    await options.turn?.();
    if (options.enough?.(pass) === true) break;
  }
  return pass.result();
}

/** One file's bytes as they come, reading no further; returns their hash, or null when there is no such file. */
export async function* scanFile(
  input: ByteInput,
  path: string,
  options: Pick<ScanOptions, "limits" | "signal">,
): AsyncGenerator<Buffer, string | null> {
  // The archive pushes, the reader pulls: one decompressed piece's worth of the file waits in between.
  let waiting: Buffer[] = [];
  let fileHash: string | null = null;
  const reader = new TarReader((entry) => {
    if (entry.path !== path || entry.kind !== "file") return null;
    const keep = { chunk: (bytes: Buffer) => waiting.push(Buffer.from(bytes)), end: () => {} };
    return hashing(entry, keep, (hash) => {
      fileHash = hash;
    });
  }, options.limits);
  for await (const _ of readArchive(input, options, reader)) {
    const ready = waiting;
    waiting = [];
    yield* ready;
    if (fileHash !== null) break;
  }
  return fileHash;
}

/**
 * The one place where a bundle is decompressed and its archive read, within the limits. Pauses after every piece, and
 * says how the bundle is compressed. Closes the input.
 */
async function* readArchive(
  input: ByteInput,
  { limits, signal }: Pick<ScanOptions, "limits" | "signal">,
  reader: TarReader,
): AsyncGenerator<Compression> {
  try {
    const compression = await readMagic(input);
    let produced = 0;
    for await (const piece of decompress(input, compression)) {
      signal?.throwIfAborted();
      produced += piece.length;
      guardRatio(produced, input.consumed, limits);
      reader.push(piece);
      yield compression;
    }
    reader.finish();
  } finally {
    await input.close();
  }
}

/** Reads no further than the end of the manifest. */
export function scanManifest(
  input: ByteInput,
  options: Omit<ScanOptions, "visit" | "turn" | "enough" | "hashes">,
): Promise<Scan> {
  return scan(input, { ...options, enough: ({ manifest }) => manifest !== null });
}

function guardRatio(produced: number, consumed: number, limits: Limits): void {
  if (!limits.ratioGuard || produced < RATIO_FREE_BYTES || produced / consumed < MAX_RATIO) return;
  throw new NutError("BUNDLE_LIMIT", `the bundle expands more than ${MAX_RATIO} times`, {
    hint: "if you expected that, say how far it may: --max-size '<bytes>'",
    data: { produced, consumed },
  });
}

class Pass {
  compression: Compression = "none";
  manifest: Manifest | null = null;
  manifestBytes: Buffer = Buffer.alloc(0);
  readonly entries: ScannedEntry[] = [];
  readonly findings: Finding[] = [];
  readonly reader: TarReader;
  private readonly options: ScanOptions;

  constructor(options: ScanOptions) {
    this.options = options;
    this.reader = new TarReader((entry) => this.entry(entry), options.limits);
  }

  result(): Scan {
    const { compression, manifest, manifestBytes, entries, findings } = this;
    if (manifest === null) {
      throw new NutError("MANIFEST_MISSING", `the bundle has no ${MANIFEST_NAME}`, {
        hint: "ask the sender to pack it again",
      });
    }
    const claimedCompression: unknown = (manifest.compression as { algorithm?: unknown } | undefined)?.algorithm;
    if (claimedCompression !== undefined && claimedCompression !== compression) {
      findings.push({
        code: "COMPRESSION_CONTRADICTS",
        severity: "error",
        path: "compression.algorithm",
        message: `the manifest says ${String(claimedCompression)}, the bytes are ${compression}`,
      });
    }
    return { compression, manifest, manifestBytes, entries, findings };
  }

  private entry(entry: ArchiveEntry): EntrySink | null {
    if (entry.path === MANIFEST_NAME) return this.manifestSink(entry);
    const sink = this.options.visit?.(entry) ?? null;
    if (entry.kind === "folder" || this.options.hashes !== true) {
      this.entries.push(entry);
      return sink;
    }
    const { path, kind, size, executable, offset } = entry;
    // Not a copy with one field more: each such object would have a shape of its own.
    return hashing(entry, sink, (hash) => this.entries.push({ path, kind, size, executable, offset, hash }));
  }

  private manifestSink(entry: ArchiveEntry): EntrySink {
    if (entry.kind !== "file") {
      throw new NutError("MANIFEST_MISSING", `${MANIFEST_NAME} is a folder in this bundle`, {
        hint: "ask the sender to pack it again",
      });
    }
    if (entry.size > MAX_MANIFEST_BYTES) {
      throw new NutError("BUNDLE_LIMIT", `${MANIFEST_NAME} is larger than ${MAX_MANIFEST_BYTES} bytes`, {
        data: { size: entry.size },
      });
    }
    if (this.entries.length > 0) {
      this.findings.push({
        code: "MANIFEST_NOT_FIRST",
        severity: "warning",
        path: MANIFEST_NAME,
        message: `${MANIFEST_NAME} is not the first entry`,
        fix: "nutshell unpack '<file>' -o '<dir>' && nutshell pack --dir '<dir>' -o '<file>'",
      });
    }
    const { known } = this.options;
    // What is the same as before is counted, not copied.
    let same = 0;
    const parts: Buffer[] = [];
    return {
      chunk: (bytes) => {
        const before = parts.length === 0 ? known?.manifestBytes.subarray(same, same + bytes.length) : undefined;
        if (before?.equals(bytes) === true) same += bytes.length;
        else parts.push(Buffer.from(bytes));
      },
      end: () => {
        if (known !== undefined && parts.length === 0 && same === known.manifestBytes.length) {
          this.manifestBytes = known.manifestBytes;
          this.manifest = known.manifest;
          return;
        }
        this.manifestBytes = Buffer.concat([
          ...(known === undefined ? [] : [known.manifestBytes.subarray(0, same)]),
          ...parts,
        ]);
        this.manifest = parseManifest(this.manifestBytes, this.options);
      },
    };
  }
}

/** Passes bytes on and tells their hash at the end. Small files come in one piece: those take the short way. */
function hashing(entry: ArchiveEntry, next: EntrySink | null, done: (hash: string) => void): EntrySink {
  let digest: Hash | null = null;
  let whole: string | null = null;
  return {
    chunk(bytes) {
      if (bytes.length === entry.size) whole = hash("sha256", bytes, "hex");
      else digest = (digest ?? createHash("sha256")).update(bytes);
      next?.chunk(bytes);
    },
    end() {
      done(`sha256:${whole ?? (digest ?? createHash("sha256")).digest("hex")}`);
      next?.end();
    },
  };
}
