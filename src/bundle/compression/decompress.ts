// From the bytes of a .nut file to the bytes of its archive. Strict where Node's own streams are not: bytes after the
// end, a second member that is damaged, a missing trailer are refused, never skipped.
import type { TransformOptions } from "node:stream";
import { crc32, createInflateRaw, type ZlibOptions } from "node:zlib";
import { NutError } from "../../errors.js";
import type { COMPRESSIONS } from "../../schema/manifest.js";
import { type ByteInput, take } from "./byte-input.js";

export type Compression = (typeof COMPRESSIONS)[number];

export const MAGIC = Buffer.from("NUT\x01", "latin1");
const SEALED = Buffer.from("NUT\x02", "latin1");
export const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
export const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Reads the magic and says how the rest is compressed. */
export async function readMagic(input: ByteInput): Promise<Compression> {
  const magic = await take(input, 4);
  if (!magic.equals(MAGIC)) throw wrongMagic(magic, input.path);
  const start = await take(input, 4);
  input.unread(start);
  if (start.length === 0) throw damaged("the bundle is empty after its first four bytes");
  if (start.subarray(0, 2).equals(GZIP_MAGIC)) return "gzip";
  if (start.equals(ZSTD_MAGIC)) return "zstd";
  return "none";
}

function wrongMagic(magic: Buffer, path: string | null): NutError {
  const name = path === null ? "" : `${path}: `;
  if (magic.equals(SEALED)) {
    return new NutError("BUNDLE_SEALED", `${name}the bundle is sealed for one recipient`, {
      hint: "open it with the recipient's key: nutshell unpack '<file>' --identity '<key file>'",
    });
  }
  return new NutError("BUNDLE_BAD_MAGIC", `${name}not a bundle: it ${describe(magic)}`, {
    hint: "bundles are made with: nutshell pack --dir '<dir>' -o '<file>.nut'",
  });
}

function describe(magic: Buffer): string {
  if (magic.length < 4) return `has ${magic.length} bytes`;
  if (magic.subarray(0, 2).equals(GZIP_MAGIC)) return "is a plain gzip file";
  if (magic.subarray(0, 2).toString("latin1") === "PK") return "is a zip file";
  if (magic.subarray(0, 3).toString("latin1") === "NUT")
    return `has format number ${magic[3]}, which is not known here`;
  return "does not start with NUT\\x01";
}

/** The archive's bytes in pieces. Throws BUNDLE_CORRUPT at the first sign of damage. */
export async function* decompress(input: ByteInput, compression: Compression): AsyncGenerator<Buffer> {
  if (compression === "none") yield* plain(input);
  else if (compression === "gzip") yield* gunzip(input);
  else yield* (await import("./zstd.js")).unzstd(input);
}

async function* plain(input: ByteInput): AsyncGenerator<Buffer> {
  for (let piece = await input.next(); piece !== null; piece = await input.next()) yield piece;
}

async function* gunzip(input: ByteInput): AsyncGenerator<Buffer> {
  // The engine has taken a piece before the next one is asked for.
  input.useMemoryAgain();
  for (let first = true; ; first = false) {
    const header = await take(input, 10);
    if (header.length === 0 && !first) return;
    await readHeader(input, header);
    yield* member(input);
  }
}

const OUTPUT = 256 * 1024;

/** One gzip member. Inflating happens on another thread, a few pieces ahead of whoever reads. */
async function* member(input: ByteInput): AsyncGenerator<Buffer> {
  // Node passes stream options on, though its types do not say so.
  const options: ZlibOptions & TransformOptions = { chunkSize: OUTPUT, readableHighWaterMark: 12 * OUTPUT };
  const inflate = createInflateRaw(options);
  const state = { crc: 0, size: 0 };
  let failure: unknown = null;
  const feeding = feed(input, inflate).catch((error: unknown) => {
    failure = error;
    inflate.destroy();
    return Buffer.alloc(0);
  });
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      state.crc = crc32(piece, state.crc);
      state.size = (state.size + piece.length) % 2 ** 32;
      yield piece;
    }
  } catch (error) {
    throw failure ?? damaged("the compressed data is damaged", error);
  } finally {
    inflate.destroy();
  }
  input.unread(await feeding);
  if (failure !== null) throw failure;
  const trailer = await take(input, 8);
  if (trailer.length < 8) throw damaged("the bundle is cut short");
  if (trailer.readUInt32LE(0) !== state.crc || trailer.readUInt32LE(4) !== state.size) {
    throw damaged("the checksum of the compressed data is wrong");
  }
}

type Inflater = ReturnType<typeof createInflateRaw>;

/** Writes pieces until the deflate stream says it has ended; returns what it did not take. */
async function feed(input: ByteInput, inflate: Inflater): Promise<Buffer> {
  let fed = 0;
  for (;;) {
    const piece = await input.next();
    if (inflate.destroyed) return Buffer.alloc(0);
    if (piece === null) throw damaged("the bundle is cut short");
    fed += piece.length;
    await new Promise<void>((resolve, reject) => {
      inflate.once("close", resolve);
      inflate.write(piece, (error) => {
        inflate.off("close", resolve);
        if (error) reject(damaged("the compressed data is damaged", error));
        else resolve();
      });
    });
    // Taking less than it was given is how the engine says that the stream is over.
    const unused = fed - inflate.bytesWritten;
    if (unused > 0) return piece.subarray(piece.length - unused);
  }
}

const RESERVED_FLAGS = 0xe0;
const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16 } as const;
const MAX_HEADER_TEXT = 64 * 1024;

/** Skips a member's header. Ours is ten fixed bytes; other tools add a name or a comment. */
async function readHeader(input: ByteInput, header: Buffer): Promise<void> {
  if (header.length < 10) throw damaged("the bundle is cut short");
  if (!header.subarray(0, 2).equals(GZIP_MAGIC)) throw damaged("there is data after the compressed archive");
  const flags = header[3]!;
  if (header[2] !== 8 || (flags & RESERVED_FLAGS) !== 0) throw damaged("the gzip header is not one we know");
  if (flags & FLAG.extra) {
    const length = await take(input, 2);
    if (length.length < 2) throw damaged("the bundle is cut short");
    await take(input, length.readUInt16LE(0));
  }
  if (flags & FLAG.name) await skipText(input);
  if (flags & FLAG.comment) await skipText(input);
  if (flags & FLAG.headerCrc) await take(input, 2);
}

async function skipText(input: ByteInput): Promise<void> {
  for (let skipped = 0; skipped < MAX_HEADER_TEXT; ) {
    const piece = await input.next();
    if (piece === null) throw damaged("the bundle is cut short");
    const end = piece.indexOf(0);
    if (end >= 0) return input.unread(piece.subarray(end + 1));
    skipped += piece.length;
  }
  throw damaged("the gzip header has no end");
}

export function damaged(message: string, cause?: unknown): NutError {
  return new NutError("BUNDLE_CORRUPT", message, {
    ...(cause === undefined ? {} : { cause }),
  });
}
