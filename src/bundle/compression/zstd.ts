// zstd streams. We write frames of bounded size, so that both directions use all cores and little memory; we read any
// frame. Where a frame ends is read from the format itself, because decoders skip what follows without a word.
import { availableParallelism } from "node:os";
import { NutError } from "../../errors.js";
import { type ByteInput, take } from "./byte-input.js";
import type { Compressor, Level, Sink } from "./compressor.js";
import { damaged, ZSTD_MAGIC } from "./decompress.js";
import { OrderedQueue } from "./ordered-queue.js";
import { loadXxhash, type StreamDecoder, streamDecoder, type ZstdCodec, zstdCodec } from "./zstd-codec.js";

/** As much as zstd looks back at its default level: a longer frame would make it leave its fastest way in the middle. */
const FRAME_BYTES = 2 * 1024 ** 2;
/** Frames up to this size are decoded whole, several at once. */
const WHOLE_FRAME_BYTES = 8 * 1024 ** 2;
/** What decoders accept by default; more is memory someone else decides about. */
const MAX_WINDOW_BYTES = 128 * 1024 ** 2;
const MAX_BLOCK_BYTES = 128 * 1024;
const WIDTH = Math.max(2, availableParallelism());
/** One more than can be worked on, so that nobody waits for a frame that takes longer than the next one's reading. */
const QUEUED_FRAMES = WIDTH + 1;

const ZSTD_LEVELS: Readonly<Record<Level, number>> = { none: 1, fast: 1, default: 3, best: 19 };

export async function zstdCompressor(level: Level, sink: Sink): Promise<Compressor> {
  const compress = (await zstdCodec()).compressor(ZSTD_LEVELS[level]);
  const queue = new OrderedQueue<readonly Buffer[]>(QUEUED_FRAMES);
  const shift = async () => {
    for (const part of await queue.shift()) sink(part);
  };
  return {
    blockBytes: FRAME_BYTES,
    async push(block, release) {
      queue.push(compress(block).finally(release));
      if (queue.isFull) await shift();
    },
    async finish() {
      while (!queue.isEmpty) await shift();
    },
  };
}

export async function* unzstd(input: ByteInput): AsyncGenerator<Buffer> {
  const codec = await zstdCodec();
  const queue = new OrderedQueue<Buffer>(WIDTH);
  for (let first = true; ; first = false) {
    const frame = await readFrameHeader(input, first);
    if (frame === null) break;
    if (frame.contentSize === null || frame.contentSize > WHOLE_FRAME_BYTES) {
      while (!queue.isEmpty) yield await queue.shift();
      yield* streamFrame(input, frame);
      continue;
    }
    queue.push(decodeWhole(codec, await gatherFrame(input, frame), frame.contentSize));
    if (queue.isFull) yield await queue.shift();
  }
  while (!queue.isEmpty) yield await queue.shift();
}

interface FrameHeader {
  readonly bytes: Buffer;
  readonly hasChecksum: boolean;
  readonly contentSize: number | null;
  readonly blockLimit: number;
}

/** null at the end of the input. */
async function readFrameHeader(input: ByteInput, first: boolean): Promise<FrameHeader | null> {
  const start = await take(input, 5);
  if (start.length === 0 && !first) return null;
  if (start.length < 5) throw damaged("the bundle is cut short");
  if (!start.subarray(0, 4).equals(ZSTD_MAGIC)) throw damaged("there is data after the compressed archive");
  const descriptor = start[4]!;
  const single = (descriptor & 0x20) !== 0;
  if ((descriptor & 0x08) !== 0 || (descriptor & 0x03) !== 0)
    throw damaged("the zstd frame is of a kind we do not know");
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  const rest = await take(input, (single ? 0 : 1) + sizeBytes);
  if (rest.length < (single ? 0 : 1) + sizeBytes) throw damaged("the bundle is cut short");
  const contentSize = readContentSize(rest.subarray(single ? 0 : 1));
  const window = single ? contentSize! : windowSize(rest[0]!);
  if (window > MAX_WINDOW_BYTES) {
    throw new NutError("BUNDLE_LIMIT", `the zstd frame needs ${window} bytes of memory`, { data: { window } });
  }
  const blockLimit = Math.min(MAX_BLOCK_BYTES, Math.max(window, 1024));
  return { bytes: Buffer.concat([start, rest]), hasChecksum: (descriptor & 0x04) !== 0, contentSize, blockLimit };
}

function readContentSize(bytes: Buffer): number | null {
  if (bytes.length === 0) return null;
  if (bytes.length === 1) return bytes[0]!;
  if (bytes.length === 2) return bytes.readUInt16LE(0) + 256;
  return bytes.length === 4 ? bytes.readUInt32LE(0) : Number(bytes.readBigUInt64LE(0));
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

interface Block {
  readonly bytes: Buffer;
  readonly last: boolean;
}

/** A block with its header, and after the last one the checksum. */
async function readBlock(input: ByteInput, frame: FrameHeader): Promise<Block> {
  const header = await take(input, 3);
  if (header.length < 3) throw damaged("the bundle is cut short");
  const value = header.readUIntLE(0, 3);
  const last = (value & 1) !== 0;
  const type = (value >> 1) & 3;
  const size = value >> 3;
  if (type === 3 || size > frame.blockLimit) throw damaged("the compressed data is damaged");
  // A repeated byte is stored once, whatever its count.
  const length = (type === 1 ? 1 : size) + (last && frame.hasChecksum ? 4 : 0);
  const body = await take(input, length);
  if (body.length < length) throw damaged("the bundle is cut short");
  return { bytes: Buffer.concat([header, body]), last };
}

async function gatherFrame(input: ByteInput, frame: FrameHeader): Promise<Buffer> {
  const parts = [frame.bytes];
  let length = 0;
  for (let last = false; !last; ) {
    const block = await readBlock(input, frame);
    parts.push(block.bytes);
    length += block.bytes.length;
    last = block.last;
    if (length > frame.contentSize! * 2 + MAX_BLOCK_BYTES) throw damaged("the compressed data is damaged");
  }
  return Buffer.concat(parts);
}

async function decodeWhole(codec: ZstdCodec, frame: Buffer, size: number): Promise<Buffer> {
  let content: Buffer;
  try {
    content = await codec.decompress(frame, size);
  } catch (error) {
    throw damaged("the compressed data is damaged", error);
  }
  if (content.length !== size) throw damaged("the compressed data is damaged");
  return content;
}

/** A frame of unknown or large size, block by block. The decoder does not check the checksum this way, so we do. */
async function* streamFrame(input: ByteInput, frame: FrameHeader): AsyncGenerator<Buffer> {
  const decoder = await streamDecoder();
  try {
    yield* blocksOf(input, frame, decoder);
  } finally {
    decoder.free();
  }
}

async function* blocksOf(input: ByteInput, frame: FrameHeader, decoder: StreamDecoder): AsyncGenerator<Buffer> {
  const hash = (await loadXxhash()).create64();
  let head = frame.bytes;
  let produced = 0;
  for (let last = false; !last; head = Buffer.alloc(0)) {
    const block = await readBlock(input, frame);
    last = block.last;
    let content: Buffer;
    try {
      content = decoder.take(Buffer.concat([head, block.bytes]), MAX_BLOCK_BYTES + 1);
    } catch (error) {
      throw damaged("the compressed data is damaged", error);
    }
    hash.update(content);
    produced += content.length;
    if (content.length > 0) yield content;
    if (!last || !frame.hasChecksum) continue;
    const stored = block.bytes.readUInt32LE(block.bytes.length - 4);
    if (stored !== Number(hash.digest() & 0xffffffffn)) throw damaged("the checksum of the compressed data is wrong");
  }
  if (frame.contentSize !== null && frame.contentSize !== produced) throw damaged("the compressed data is damaged");
}
