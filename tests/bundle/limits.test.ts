// Ceilings that only a forged bundle meets.
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { openBundle, unpackBundle } from "../../src/bundle/index.js";
import { END, entry, header, MAGIC, manifest } from "./forge.js";
import { temporaryFolder } from "./temp.js";

const root = temporaryFolder();
const fresh = () => mkdtempSync(join(root, "t-"));
function bundle(...parts: Buffer[]): string {
  const path = join(fresh(), "bundle.nut");
  writeFileSync(path, Buffer.concat([MAGIC, ...parts]));
  return path;
}
const limit = { code: "BUNDLE_LIMIT" };

describe("a bundle", () => {
  it("has a manifest of a reasonable size, or is not read", async () => {
    // Refused for what it claims, before any of it is held.
    const huge = bundle(header({ name: "nutshell.json", size: 17 * 1024 ** 2 }), Buffer.alloc(1_024, 0x20));
    await expect(openBundle(huge)).rejects.toMatchObject({
      ...limit,
      message: expect.stringContaining("nutshell.json is larger"),
    });
  });

  it("that is cut in an entry is refused by whoever reads to its end", async () => {
    const cut = bundle(manifest(), header({ name: "a", size: 5_000 }), Buffer.alloc(1_024));
    await expect(unpackBundle(cut, join(fresh(), "out"))).rejects.toMatchObject({ code: "BUNDLE_CORRUPT" });
    const opened = await openBundle(cut);
    await expect(opened.list()).rejects.toMatchObject({ code: "BUNDLE_CORRUPT" });
    expect(await opened.verify()).toMatchObject([{ code: "BUNDLE_CORRUPT", severity: "error" }]);
    await opened.close();
  });

  it("that claims to be small is not held in memory when it is not", async () => {
    const claims = { tree: [], total_count: 0, total_size_bytes: 10 };
    const large = bundle(manifest({ files: claims }), entry({ name: "a", data: Buffer.alloc(33 * 1024 ** 2) }), END);
    const opened = await openBundle(large);
    await expect(opened.read("a").then(({ length }) => length)).rejects.toMatchObject(limit);
    await opened.close();
  });

  it("that comes as a stream without an end is cut off, and nothing of it stays", async () => {
    const piece = Buffer.alloc(1_000);
    const endless = Readable.from(
      (function* () {
        yield Buffer.concat([MAGIC, manifest()]);
        for (let i = 0; i < 1_000; i += 1) yield piece;
      })(),
    );
    const tempDir = fresh();
    await expect(openBundle(endless, { tempDir, limits: { maxTotalBytes: 50_000 } })).rejects.toMatchObject({
      ...limit,
      message: expect.stringContaining("does not end"),
    });
    expect(readdirSync(tempDir)).toEqual([]);
  });
});
