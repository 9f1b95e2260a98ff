// Compression in blocks on all cores. Each block is deflated on its own thread, primed with the 32 KiB before it, and
// ends on a byte boundary; joined they are one ordinary gzip member that every reader accepts, as pigz makes.
import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import { constants, crc32, deflateRaw } from "node:zlib";
import type { Compression } from "./decompress.js";
import { OrderedQueue } from "./ordered-queue.js";

export const LEVELS = ["none", "fast", "default", "best"] as const;
export type Level = (typeof LEVELS)[number];

/** Bytes per block: big enough to compress well, small enough that a few in flight cost little memory. */
const BLOCK_BYTES = 512 * 1024;
const WINDOW = 32 * 1024;
const OUTPUT_BYTES = 192 * 1024;

export interface Compressor {
  /** How much `push` takes at most. */
  readonly blockBytes: number;
  /** Takes a block; it may be reused only after `release`. Resolves when another block may come. */
  push(block: Buffer, release: () => void): Promise<void>;
  /** Resolves when everything has been handed to the sink. */
  finish(): Promise<void>;
}

export type Sink = (bytes: Buffer) => void;

export async function createCompressor(compression: Compression, level: Level, sink: Sink): Promise<Compressor> {
  if (compression === "none") return plain(sink);
  if (compression === "gzip") return new GzipBlocks(level, sink);
  return (await import("./zstd.js")).zstdCompressor(level, sink);
}

/** Compresses something small in one go: the manifest's own member. */
export async function compressWhole(bytes: Buffer, compression: Compression, level: Level): Promise<Buffer> {
  const parts: Buffer[] = [];
  const compressor = await createCompressor(compression, level, (part) => parts.push(part));
  const { blockBytes } = compressor;
  for (let at = 0; at < bytes.length; at += blockBytes) {
    await compressor.push(bytes.subarray(at, at + blockBytes), () => {});
  }
  await compressor.finish();
  return Buffer.concat(parts);
}

function plain(sink: Sink): Compressor {
  return {
    blockBytes: BLOCK_BYTES,
    async push(block, release) {
      sink(block);
      release();
      // Nothing here waits for another thread, and without a turn for others Ctrl-C would not be heard.
      await setImmediate();
    },
    async finish() {},
  };
}

// Of source text level 5 makes one per cent more than 6, in three quarters of the time.
const ZLIB_LEVELS: Readonly<Record<Level, number>> = { none: 0, fast: 1, default: 5, best: 9 };
// Fixed: no time, no name, "unknown" system. Otherwise the same tree would give other bytes elsewhere.
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block: what comes before it never needs to know that it is the last. */
const GZIP_LAST = Buffer.from([0x03, 0x00]);

class GzipBlocks implements Compressor {
  readonly blockBytes = BLOCK_BYTES;
  private readonly level: number;
  private readonly sink: Sink;
  private readonly queue = new OrderedQueue<Buffer>(3 * Math.max(4, availableParallelism()));
  private window: Buffer = Buffer.alloc(0);
  private crc = 0;
  private size = 0;

  constructor(level: Level, sink: Sink) {
    this.level = ZLIB_LEVELS[level];
    this.sink = sink;
    sink(GZIP_HEADER);
  }

  async push(block: Buffer, release: () => void): Promise<void> {
    this.crc = crc32(block, this.crc);
    this.size = (this.size + block.length) % 2 ** 32;
    this.queue.push(deflateBlock(block, this.level, this.window).finally(release));
    this.window = Buffer.from(block.subarray(-WINDOW));
    if (this.queue.isFull) this.sink(await this.queue.shift());
  }

  async finish(): Promise<void> {
    while (!this.queue.isEmpty) this.sink(await this.queue.shift());
    this.sink(GZIP_LAST);
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.crc, 0);
    trailer.writeUInt32LE(this.size, 4);
    this.sink(trailer);
  }
}

function deflateBlock(block: Buffer, level: number, dictionary: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    deflateRaw(
      block,
      {
        level,
        // Text fits in one go; what does not compress takes a few.
        chunkSize: OUTPUT_BYTES,
        finishFlush: constants.Z_SYNC_FLUSH,
        ...(dictionary.length > 0 ? { dictionary } : {}),
      },
      (error, result) => (error === null ? resolve(result) : reject(error)),
    );
  });
}
