// zstd of one piece at a time. Node has it from 22.15 on; before that WebAssembly does the same, if slower.
// Every frame carries a checksum: without one, zstd accepts flipped bits.
import * as zlib from "node:zlib";

export interface ZstdCodec {
  /** One frame with its size and checksum. */
  compress(bytes: Buffer, level: number): Promise<Buffer>;
  /** The content of one frame that says it holds `size` bytes. */
  decompress(frame: Buffer, size: number): Promise<Buffer>;
}

type Callback = (error: Error | null, result: Buffer) => void;

/** What newer versions of node:zlib have beyond the types of the oldest version we run on. */
interface NativeZstd {
  readonly zstdCompress?: (bytes: Buffer, options: object, done: Callback) => void;
  readonly zstdDecompress?: (bytes: Buffer, options: object, done: Callback) => void;
  readonly constants: { readonly ZSTD_c_compressionLevel?: number; readonly ZSTD_c_checksumFlag?: number };
}

export function zstdCodec(): Promise<ZstdCodec> {
  const native = zlib as unknown as NativeZstd;
  return native.zstdCompress === undefined ? wasmCodec() : Promise.resolve(nativeCodec(native));
}

function nativeCodec({ zstdCompress, zstdDecompress, constants }: NativeZstd): ZstdCodec {
  const promised = (run: (done: Callback) => void) =>
    new Promise<Buffer>((resolve, reject) =>
      run((error, result) => (error === null ? resolve(result) : reject(error))),
    );
  return {
    compress: (bytes, level) => {
      const params = { [constants.ZSTD_c_compressionLevel!]: level, [constants.ZSTD_c_checksumFlag!]: 1 };
      // Without its size the frame would not say how much it holds.
      // Text fits in one go; what does not compress takes a few.
      const chunkSize = Math.max(64 * 1024, bytes.length >> 2);
      const options = { params, pledgedSrcSize: bytes.length, chunkSize };
      return promised((done) => zstdCompress!(bytes, options, done));
    },
    decompress: (frame, size) => {
      const options = { maxOutputLength: size + 1, chunkSize: Math.max(64, size) };
      return promised((done) => zstdDecompress!(frame, options, done));
    },
  };
}

async function wasmCodec(): Promise<ZstdCodec> {
  const zstd = await loadZstd();
  const { h64Raw } = await loadXxhash();
  return {
    compress: async (bytes, level) => withChecksum(Buffer.from(zstd.compress(bytes, level)), h64Raw(bytes)),
    decompress: async (frame) => Buffer.from(zstd.decompress(frame)),
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

export async function loadZstd() {
  return (await import("@hpcc-js/wasm-zstd")).Zstd.load();
}

export async function loadXxhash() {
  const { default: xxhash } = await import("xxhash-wasm");
  return xxhash();
}
