import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type ByteInput, streamInput, take } from "./byte-input.js";
import { compressWhole } from "./compressor.js";
import { decompress, MAGIC, readMagic } from "./decompress.js";

const input = (bytes: Buffer): ByteInput => streamInput(Readable.from([bytes]));
async function unpacked(bytes: Buffer): Promise<Buffer> {
  const from = input(Buffer.concat([MAGIC, bytes]));
  const parts: Buffer[] = [];
  for await (const piece of decompress(from, await readMagic(from))) parts.push(piece);
  return Buffer.concat(parts);
}

const text = Buffer.from("some text, and again some text\n".repeat(500));
const corrupt = { code: "BUNDLE_CORRUPT" };
const members = {
  gzip: () => compressWhole(text, "gzip", "default"),
  zstd: () => compressWhole(text, "zstd", "default"),
};

describe.each(Object.entries(members))("%s", (_name, member) => {
  it("gives back what went in, of several members too", async () => {
    const one = await member();
    expect((await unpacked(one)).equals(text)).toBe(true);
    expect((await unpacked(Buffer.concat([one, one]))).equals(Buffer.concat([text, text]))).toBe(true);
  });

  it("refuses bytes after the end, a cut anywhere, and a wrong checksum", async () => {
    const one = await member();
    await expect(unpacked(Buffer.concat([one, Buffer.from("more than enough")]))).rejects.toMatchObject(corrupt);
    for (const length of [5, 12, one.length >> 1, one.length - 9, one.length - 1]) {
      await expect(unpacked(one.subarray(0, length)), `cut at ${length}`).rejects.toMatchObject(corrupt);
    }
    const changed = Buffer.from(one);
    changed[one.length - 3]! ^= 1;
    await expect(unpacked(changed)).rejects.toMatchObject(corrupt);
  });
});

describe("gzip", () => {
  const whole = gzipSync(text);
  const changed = (at: number, value: number) => {
    const bytes = Buffer.from(whole);
    bytes[at] = value;
    return bytes;
  };

  it("refuses a checksum, a length and a header that do not fit", async () => {
    for (const at of [whole.length - 8, whole.length - 4]) {
      await expect(unpacked(changed(at, whole[at]! ^ 1)), `byte ${at}`).rejects.toMatchObject(corrupt);
    }
    await expect(unpacked(changed(2, 7))).rejects.toMatchObject(corrupt);
    await expect(unpacked(changed(3, 0x20))).rejects.toMatchObject(corrupt);
  });
});

/** A frame that does not say how much it holds, in blocks that are stored as they are. */
function streamed(blocks: readonly Buffer[]): Buffer {
  const window = 0x38;
  const parts = blocks.map((block, index) => {
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (index === blocks.length - 1 ? 1 : 0), 0, 3);
    return Buffer.concat([header, block]);
  });
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window]), ...parts]);
}

describe("zstd", () => {
  it("reads streams in turns, each as if it were alone", async () => {
    const contents = ["a", "b", "c"].map((letter) => [1, 2, 3, 4].map((turn) => Buffer.alloc(1_000 * turn, letter)));
    const open = async (blocks: readonly Buffer[]) => {
      const from = input(Buffer.concat([MAGIC, streamed(blocks)]));
      return decompress(from, await readMagic(from));
    };
    const streams = await Promise.all(contents.map(open));
    for (let turn = 0; turn < 4; turn += 1)
      for (const [index, stream] of streams.entries())
        expect((await stream.next()).value?.equals(contents[index]![turn]!), `${index}, ${turn}`).toBe(true);
    expect(await Promise.all(streams.map((stream) => stream.next()))).toEqual(
      streams.map(() => ({ done: true, value: undefined })),
    );
  });

  it("refuses a frame that wants more memory than anyone should", async () => {
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 1, 0, 0]);
    await expect(unpacked(frame)).rejects.toMatchObject({ code: "BUNDLE_LIMIT" });
  });
});

it("knows a bundle by its first bytes", async () => {
  await expect(readMagic(input(Buffer.from("NUT\x01\x1f\x8b..", "latin1")))).resolves.toBe("gzip");
  await expect(readMagic(input(Buffer.from("NUT\x01plain")))).resolves.toBe("none");
  await expect(readMagic(input(Buffer.from("NUT\x02....")))).rejects.toMatchObject({ code: "BUNDLE_SEALED" });
  await expect(readMagic(input(Buffer.from("NUT\x03....")))).rejects.toMatchObject({ code: "BUNDLE_BAD_MAGIC" });
  await expect(readMagic(input(Buffer.from("NUT\x01")))).rejects.toMatchObject(corrupt);
});

it("takes exactly what is asked for and puts the rest back", async () => {
  const from = input(Buffer.from("abcdef"));
  expect(String(await take(from, 2))).toBe("ab");
  expect(from.consumed).toBe(2);
  expect(String(await take(from, 9))).toBe("cdef");
});
