// Whoever reads a bundle, in whatever way, is safe from one that is built to expand.
import { describe, expect, it } from "vitest";
import { openContent } from "../../src/bundle/index.js";
import { forge, LOOKING, READERS, small } from "./bundle-readers.js";

/** Expands more than is free, before the file that is asked for. */
let bomb: string | undefined;
function bombPath(): string {
  bomb ??= forge({
    files: [{ name: "0.bin", data: Buffer.alloc(66 * 1024 ** 2) }, { name: "a.txt", data: "content\n" }, small],
  });
  return bomb;
}

describe.each(Object.entries({ ...READERS, ...LOOKING }))("%s", (_name, read) => {
  it("refuses what expands too far", async () => {
    await expect(read(bombPath(), {})).rejects.toMatchObject({
      code: "BUNDLE_LIMIT",
      message: expect.stringContaining("expands more than"),
    });
  });
});

it("lets a bundle expand as far as a person said", async () => {
  const limits = { maxTotalBytes: 2 ** 30 };
  await expect(READERS.unpack!(bombPath(), { limits })).resolves.toMatchObject({ files: 4 });
  await expect(READERS.read!(bombPath(), { limits })).resolves.toEqual(Buffer.from("content\n"));
});

it("holds a bundle to the limits when it is opened as content", async () => {
  await expect(openContent(bombPath())).rejects.toMatchObject({ code: "BUNDLE_LIMIT" });
});
