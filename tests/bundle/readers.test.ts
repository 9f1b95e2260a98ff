// Every way to read a bundle holds it to the same limits and hashes.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openBundle } from "../../src/bundle/index.js";
import { forge, fresh, LOOKING, READERS, sha256, small } from "./bundle-readers.js";
import { END, entry, MAGIC, manifest } from "./forge.js";

describe.each(Object.entries(READERS))("%s [P2]", (_name, read) => {
  it.each([true, false])(
    "gives a file whose hash is right, and refuses another (total told: %s)",
    async (isTotalTold) => {
      const good = { name: "a.txt", data: "content\n" };
      await expect(read(forge({ files: [good, small], isTotalTold }), {})).resolves.toBeDefined();
      const wrong = { ...good, hash: sha256("other\n") };
      await expect(read(forge({ files: [wrong, small], isTotalTold }), {})).rejects.toMatchObject({
        code: "BUNDLE_MISMATCH",
      });
    },
  );
});

describe.each(Object.entries({ ...READERS, ...LOOKING }))("%s", (_name, read) => {
  it("holds to the number of entries and to the size it may unpack to", async () => {
    const path = forge({ files: [{ name: "0.txt", data: "0".repeat(600) }, { name: "a.txt", data: "a" }, small] });
    const limit = { code: "BUNDLE_LIMIT" };
    await expect(read(path, { limits: { maxEntries: 1 } })).rejects.toMatchObject(limit);
    await expect(read(path, { limits: { maxTotalBytes: 500 } })).rejects.toMatchObject(limit);
  });
});

it("reads a row for ./name as one for name", async () => {
  const data = "content\n";
  const row = { path: "./a.txt", size: data.length, hash: sha256("other\n") };
  const parts = [manifest({ files: { tree: [row] } }), entry({ name: "a.txt", data }), END];
  const path = join(fresh(), "bundle.nut");
  writeFileSync(path, Buffer.concat([MAGIC, ...parts]));
  const bundle = await openBundle(path);
  await expect(bundle.read("a.txt")).rejects.toMatchObject({ code: "BUNDLE_MISMATCH" });
  await bundle.close();
});

it("keeps a file of the pass over the whole, so that reading it then opens nothing", async () => {
  const path = forge({
    files: [
      { name: "0.bin", data: "0".repeat(2000) },
      { name: "a.txt", data: "content\n" },
    ],
  });
  const bundle = await openBundle(path, { keep: "a.txt" });
  await bundle.verify();
  rmSync(path);
  expect(await bundle.readText("a.txt")).toBe("content\n");
  await bundle.close();
});

describe("the source", () => {
  const source = fileURLToPath(new URL("../../src", import.meta.url));
  const users = (pattern: RegExp) =>
    readdirSync(source, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
      .filter((name) => pattern.test(readFileSync(join(source, name), "utf8")))
      .map((name) => relative(source, join(source, name)))
      .sort();

  it("reads archives in one place, which holds the limits", () => {
    expect(users(/new TarReader\(/)).toEqual(["bundle/archive/scan.ts"]);
    expect(users(/\bdecompress\(/)).toEqual([
      "bundle/archive/scan.ts",
      "bundle/compression/decompress.ts",
      "bundle/compression/zstd-codec.ts",
      "bundle/compression/zstd.ts",
    ]);
    expect(users(/from "(?:node:zlib|@hpcc-js\/wasm-zstd)"|import\("(?:node:zlib|@hpcc-js\/wasm-zstd)"\)/)).toEqual([
      // Answers of services, which are no archives: what they hold is passed on as it comes.
      "broker/http/exchange.ts",
      "bundle/compression/compressor.ts",
      "bundle/compression/decompress.ts",
      "bundle/compression/zstd-codec.ts",
    ]);
  });
});
