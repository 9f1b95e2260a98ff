// One pass over a bundle: magic, decompression, archive, manifest, hashes. Everything that reads bundles reads them here.
import { createHash, type Hash, hash } from "node:crypto";
import { type Finding, NutError } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import { type Compression, decompress, readMagic } from "../compression/decompress.js";
import { type ManifestOptions, parseManifest } from "../manifest/manifest.js";
import type { ByteInput } from "./byte-input.js";
import { type Limits, MAX_MANIFEST_BYTES, MAX_RATIO, RATIO_FREE_BYTES } from "./limits.js";
import { MANIFEST_NAME } from "./safe-path.js";
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
  /** Asked after every piece; true ends the pass early. */
  readonly enough?: (found: { readonly manifest: Manifest | null }) => boolean;
}

export interface Scan {
  readonly compression: Compression;
  readonly manifest: Manifest;
  readonly manifestBytes: Buffer;
  /** In archive order, the manifest aside. */
  readonly entries: readonly ScannedEntry[];
  readonly findings: readonly Finding[];
  /** Bytes of the whole .nut file that were read. */
  readonly bytesRead: number;
}

/** Reads a bundle once. Throws at the first thing that is unsafe or damaged; closes the input. */
export async function scan(input: ByteInput, options: ScanOptions): Promise<Scan> {
  try {
    const compression = await readMagic(input);
    const pass = new Pass(options);
    let produced = 0;
    for await (const piece of decompress(input, compression)) {
      options.signal?.throwIfAborted();
      produced += piece.length;
      guardRatio(produced, input.consumed, options.limits);
      pass.reader.push(piece);
      if (options.enough?.(pass) === true) return pass.result(compression, input.consumed);
    }
    pass.reader.finish();
    return pass.result(compression, input.consumed);
  } finally {
    await input.close();
  }
}

/** Reads no further than the end of the manifest. */
export function scanManifest(
  input: ByteInput,
  options: Omit<ScanOptions, "visit" | "enough" | "hashes">,
): Promise<Scan> {
  return scan(input, { ...options, enough: ({ manifest }) => manifest !== null });
}

function guardRatio(produced: number, consumed: number, limits: Limits): void {
  if (!limits.ratioGuard || produced < RATIO_FREE_BYTES || produced / consumed < MAX_RATIO) return;
  throw new NutError("BUNDLE_LIMIT", `the bundle expands more than ${MAX_RATIO} times`, {
    hint: "if you expected that, say how far it may: --max-size <bytes>",
    data: { produced, consumed },
  });
}

class Pass {
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

  result(compression: Compression, bytesRead: number): Scan {
    const { manifest, manifestBytes, entries, findings } = this;
    if (manifest === null) {
      throw new NutError("MANIFEST_MISSING", `the bundle has no ${MANIFEST_NAME}`, {
        hint: "ask the sender to pack it again",
      });
    }
    const claimed: unknown = (manifest.compression as { algorithm?: unknown } | undefined)?.algorithm;
    if (claimed !== undefined && claimed !== compression) {
      findings.push({
        code: "COMPRESSION_CONTRADICTS",
        severity: "error",
        path: "compression.algorithm",
        message: `the manifest says ${String(claimed)}, the bytes are ${compression}`,
      });
    }
    return { compression, manifest, manifestBytes, entries, findings, bytesRead };
  }

  private entry(entry: ArchiveEntry): EntrySink | null {
    if (entry.path === MANIFEST_NAME) return this.manifestSink(entry);
    const given = this.options.visit?.(entry) ?? null;
    if (entry.kind === "folder" || this.options.hashes !== true) {
      this.entries.push(entry);
      return given;
    }
    return hashing(entry, given, (digest) => this.entries.push({ ...entry, hash: `sha256:${digest}` }));
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
        fix: "pack it again: nutshell unpack <file>, nutshell pack",
      });
    }
    const parts: Buffer[] = [];
    return {
      chunk: (bytes) => parts.push(Buffer.from(bytes)),
      end: () => {
        this.manifestBytes = Buffer.concat(parts);
        this.manifest = parseManifest(this.manifestBytes, this.options);
      },
    };
  }
}

/** Passes bytes on and tells their hash at the end. Small files come in one piece: those take the short way. */
function hashing(entry: ArchiveEntry, next: EntrySink | null, done: (digest: string) => void): EntrySink {
  let digest: Hash | null = null;
  let whole: string | null = null;
  return {
    chunk(bytes) {
      if (bytes.length === entry.size) whole = hash("sha256", bytes, "hex");
      else digest = (digest ?? createHash("sha256")).update(bytes);
      next?.chunk(bytes);
    },
    end() {
      done(whole ?? (digest ?? createHash("sha256")).digest("hex"));
      next?.end();
    },
  };
}
