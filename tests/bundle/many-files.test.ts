import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openBundle } from "../../src/bundle/index.js";
import { forge, fresh } from "./bundle-readers.js";

describe("reading many files", () => {
  it("takes one pass, whatever the bundle's size and the order", async () => {
    // Far more than is held in memory: a pass for every file would not end before the test's time is up.
    const files = Array.from({ length: 3_000 }, (_, i) => ({ name: `f/${i}.bin`, data: randomBytes(8_000) }));
    const temporary = fresh();
    const bundle = await openBundle(forge({ files, isTotalTold: true, level: 1 }), { tempDir: temporary });
    for (const { name, data } of files.toReversed()) expect((await bundle.read(name)).equals(data)).toBe(true);
    expect(readdirSync(temporary)).toEqual([]);
    await bundle.close();
    await expect(bundle.read("f/0.bin")).rejects.toThrow();
  });

  it("checks hashes and looks names up without looking through the whole tree each time", async () => {
    const files = Array.from({ length: 30_000 }, (_, i) => ({ name: `f/${i}.txt`, data: `${i}` }));
    const bundle = await openBundle(forge({ files, isTotalTold: true, level: 1 }));
    for (const { name, data } of files) {
      if (!(await bundle.has(name)) || String(await bundle.read(name)) !== data) expect.unreachable(name);
    }
    await bundle.close();
  });
});
