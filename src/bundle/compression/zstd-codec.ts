// zstd of one piece at a time. Node has it from 22.15 on; before that WebAssembly does the same, if slower.
// Every frame carries a checksum: without one, zstd accepts flipped bits.
import type { Transform } from "node:stream";
import { setImmediate } from "node:timers/promises";
import * as zlib from "node:zlib";
import type { Zstd } from "@hpcc-js/wasm-zstd";

export interface ZstdCodec {
  /** Makes one frame of each piece, with its size and checksum, several at once; in parts, which nobody has to join. */
  compressor(level: number): (bytes: Buffer) => Promise<readonly Buffer[]>;
  /** The content of one frame that says it holds `size` bytes. */
  decompress(frame: Buffer, size: number): Promise<Buffer>;
}

type Callback = (error: Error | null, result: Buffer) => void;

/** What newer versions of node:zlib have beyond the types of the oldest version we run on. */
export interface NativeZstd {
  readonly createZstdCompress?: (options: object) => Transform;
  readonly zstdDecompress?: (bytes: Buffer, options: object, done: Callback) => void;
  readonly constants: {
    readonly ZSTD_c_compressionLevel?: number;
    readonly ZSTD_c_checksumFlag?: number;
    readonly ZSTD_e_end?: number;
  };
}

export function zstdCodec(): Promise<ZstdCodec> {
  const native = zlib as unknown as NativeZstd;
  return native.createZstdCompress === undefined ? wasmCodec() : Promise.resolve(nativeCodec(native));
}

const OUTPUT_BYTES = 512 * 1024;

export function nativeCodec(native: NativeZstd): ZstdCodec {
  const { createZstdCompress, zstdDecompress, constants } = native;
  return {
    compressor(level) {
      const params = { [constants.ZSTD_c_compressionLevel!]: level, [constants.ZSTD_c_checksumFlag!]: 1 };
      // Each write ends its frame at once: only so does a frame say how much it holds.
      const flush = constants.ZSTD_e_end;
      // A stream's megabytes are freed when the collector comes to it, so the few there are serve for all frames.
      const idle: FrameStream[] = [];
      const open = () => new FrameStream(createZstdCompress!({ params, flush, chunkSize: OUTPUT_BYTES }));
      return async (bytes) => {
        // zstd writes other bytes where all of a frame is sure to fit into what is left of a stream's memory for output. How
        // much that is depends on the frames before it, and on which stream was done first: a small frame gets a new one.
        const stream = bytes.length < OUTPUT_BYTES ? open() : (idle.pop() ?? open());
        const frame = await stream.write(bytes);
        idle.push(stream);
        return frame;
      };
    },
    decompress: (frame, size) =>
      new Promise((resolve, reject) => {
        const options = { maxOutputLength: size + 1, chunkSize: Math.max(64, size) };
        zstdDecompress!(frame, options, (error, result) => (error === null ? resolve(result) : reject(error)));
      }),
  };
}

class FrameStream {
  private readonly stream: Transform;
  private parts: Buffer[] = [];

  constructor(stream: Transform) {
    this.stream = stream;
    stream.on("data", (part: Buffer) => this.parts.push(part));
    // The write that failed hears of it too.
    stream.on("error", () => {});
  }

  write(bytes: Buffer): Promise<readonly Buffer[]> {
    return new Promise((resolve, reject) => {
      this.stream.write(bytes, (error) => {
        if (error !== null && error !== undefined) return reject(error);
        // What has not flowed yet does now.
        while (this.stream.read() !== null);
        const frame = this.parts;
        this.parts = [];
        resolve(frame);
      });
    });
  }
}

async function wasmCodec(): Promise<ZstdCodec> {
  const zstd = await loadZstd();
  const { h64Raw } = await loadXxhash();
  // This works on the only thread there is: before each piece the others have their turn, or Ctrl-C would not be heard.
  return {
    compressor: (level) => async (bytes) => {
      await setImmediate();
      return [withChecksum(Buffer.from(zstd.compress(bytes, level)), h64Raw(bytes))];
    },
    decompress: async (frame) => {
      await setImmediate();
      return Buffer.from(zstd.decompress(frame));
    },
  };
}

/** Content checksum flag of a frame's descriptor, the fifth byte. */
const CHECKSUM_FLAG = 0x04;

/** The WebAssembly build writes frames without a checksum; the format lets us add it: a flag, and four bytes at the end. */
function withChecksum(frame: Buffer, hash: bigint): Buffer {
  frame[4]! |= CHECKSUM_FLAG;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(Number(hash & 0xffffffffn));
  return Buffer.concat([frame, checksum]);
}

/** What the library does not show of itself: the compiled code, how it hands out what it made, and the state of a stream. */
interface Inside {
  readonly _mainModule: {
    readonly _module: object;
    readonly heapView: (made: unknown) => Uint8Array;
    heapToUint8Array: (made: unknown) => Uint8Array;
  };
  readonly _zstd: { delete(): void };
}

async function loadZstd(): Promise<Zstd> {
  const zstd = await (await import("@hpcc-js/wasm-zstd")).Zstd.load();
  quicken(zstd);
  return zstd;
}

const insideOf = (zstd: Zstd) => zstd as unknown as Inside;

/** Its own way makes an array of numbers on the way, which takes longer than all the rest. */
function quicken(zstd: Zstd): void {
  const { _mainModule: main } = insideOf(zstd);
  main.heapToUint8Array = (made) => main.heapView(made).slice();
}

export interface StreamDecoder {
  take(bytes: Buffer, mostBytes: number): Buffer;
  free(): void;
}

/** For one stream: the library has one decoder for all, and two streams that are read in turns would spoil each other. */
export async function streamDecoder(): Promise<StreamDecoder> {
  const shared = await loadZstd();
  const own = Reflect.construct(shared.constructor, [insideOf(shared)._mainModule._module]) as Zstd;
  quicken(own);
  own.reset();
  return {
    take: (bytes, mostBytes) => Buffer.from(own.decompressChunk(bytes, mostBytes)),
    free: () => insideOf(own)._zstd.delete(),
  };
}

export async function loadXxhash() {
  const { default: xxhash } = await import("xxhash-wasm");
  return xxhash();
}
