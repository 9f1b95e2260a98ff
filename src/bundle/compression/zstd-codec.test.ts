import { Transform } from "node:stream";
import { describe, expect, it } from "vitest";
import { nativeCodec } from "./zstd-codec.js";

/** Streams whose output begins with how many bytes each has put out before, as zstd's bytes may depend on it. */
function streams() {
  return {
    constants: { ZSTD_c_compressionLevel: 100, ZSTD_c_checksumFlag: 201, ZSTD_e_end: 2 },
    createZstdCompress: () => {
      let before = 0;
      return new Transform({
        transform(bytes: Buffer, _, done) {
          const out = Buffer.from(`${before}:${bytes.length}`);
          before += bytes.length;
          done(null, out);
        },
      });
    },
  };
}

describe("frames of node's own zstd", () => {
  it("[P2] are the same bytes whichever stream was free, also when the last one is small", async () => {
    const frames = [2 ** 21, 2 ** 21, 2 ** 21, 300_000];
    const compress = nativeCodec(streams()).compressor(3);
    const made: string[] = [];
    const textOf = (frame: readonly Buffer[]) => Buffer.concat(frame).toString();
    for (const size of frames) made.push(textOf(await compress(Buffer.alloc(size))));
    const alone = textOf(await nativeCodec(streams()).compressor(3)(Buffer.alloc(300_000)));
    expect(made.at(-1)).toBe(alone);
    // The large ones take turns in one stream, whose memory would otherwise wait for the collector.
    expect(made.slice(0, 3)).toEqual([`0:${2 ** 21}`, `${2 ** 21}:${2 ** 21}`, `${2 ** 22}:${2 ** 21}`]);
  });
});
