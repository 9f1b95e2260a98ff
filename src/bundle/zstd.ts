import { NutError } from "../errors.js";
import type { ByteInput } from "./byte-input.js";
import type { Compressor, Level, Sink } from "./compressor.js";

const missing = () => new NutError("BUNDLE_CORRUPT", "zstd is not here yet", {});

export async function* unzstd(_input: ByteInput): AsyncGenerator<Buffer> {
  yield await Promise.reject(missing());
}

export async function zstdCompressor(_level: Level, _sink: Sink): Promise<Compressor> {
  throw missing();
}
