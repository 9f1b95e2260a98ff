// Every way to read a bundle holds it to the same limits and hashes.
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type Bundle, type OpenOptions, openBundle, openContent, unpackBundle } from "../../src/bundle/index.js";
import { END, entry, MAGIC, manifest } from "./forge.js";
import { temporaryFolder } from "./temp.js";

const root = temporaryFolder();
const fresh = () => mkdtempSync(join(root, "t-"));
const sha256 = (bytes: string | Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

interface File {
  readonly name: string;
  readonly data: string | Buffer;
  /** What the manifest says instead of the file's own hash. */
  readonly hash?: string;
}

interface Forgery {
  readonly files: readonly File[];
  /** Says the total in the manifest, which makes a reader hold the whole. */
  readonly isTotalTold?: boolean;
}

/** A bundle whose manifest lists every file. */
function forge({ files, isTotalTold = false }: Forgery): string {
  const tree = files.map(({ name, data, hash }) => ({
    path: name,
    size: Buffer.byteLength(data as string),
    hash: hash ?? sha256(data),
  }));
  const total = tree.reduce((sum, { size }) => sum + size, 0);
  const claims = { tree, ...(isTotalTold ? { total_count: tree.length, total_size_bytes: total } : {}) };
  const parts = [manifest({ files: claims }), ...files.map((file) => entry(file)), END];
  const path = join(fresh(), "bundle.nut");
  writeFileSync(path, Buffer.concat([MAGIC, gzipSync(Buffer.concat(parts))]));
  return path;
}

type Reader = (path: string, options: OpenOptions) => Promise<unknown>;

const opened =
  (read: (bundle: Bundle) => Promise<unknown>): Reader =>
  async (path, options) => {
    const bundle = await openBundle(path, options);
    try {
      return await read(bundle);
    } finally {
      await bundle.close();
    }
  };

/** More reads than are made from the start: the last ones come from the copy. */
async function readOften(bundle: Bundle, path: string): Promise<Buffer> {
  for (let i = 0; i < 9; i += 1) await bundle.read("z.txt");
  return bundle.read(path);
}

const READERS: Readonly<Record<string, Reader>> = {
  read: opened((bundle) => bundle.read("a.txt")),
  "read, often": opened((bundle) => readOften(bundle, "a.txt")),
  readText: opened((bundle) => bundle.readText("a.txt")),
  stream: opened((bundle) => buffer(bundle.stream("a.txt"))),
  unpack: (path, options) => unpackBundle(path, join(fresh(), "out"), options),
  repack: opened((bundle) => bundle.repack({ output: join(fresh(), "again.nut") })),
};

/** Those that look at everything and hand out no file. */
const LOOKING: Readonly<Record<string, Reader>> = {
  list: opened((bundle) => bundle.list()),
  has: opened((bundle) => bundle.has("z.txt")),
  byPrefix: opened((bundle) => bundle.byPrefix("z")),
  each: opened((bundle) => bundle.each(() => null)),
  contentDigest: opened((bundle) => bundle.contentDigest()),
  verify: opened(async (bundle) => {
    const [finding] = (await bundle.verify()).filter(({ severity }) => severity === "error");
    if (finding !== undefined) throw Object.assign(new Error(finding.message), finding);
  }),
};

const small = { name: "z.txt", data: "the end\n" };

describe.each(Object.entries(READERS))("%s", (_name, read) => {
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

/** Expands more than is free, before the file that is asked for. */
let bomb: string | undefined;
function bombPath(): string {
  const zeros = { name: "0.bin", data: Buffer.alloc(66 * 1024 ** 2) };
  bomb ??= forge({ files: [zeros, { name: "a.txt", data: "content\n" }, small] });
  return bomb;
}

describe.each(Object.entries({ ...READERS, ...LOOKING }))("%s", (_name, read) => {
  it("refuses what expands too far", async () => {
    await expect(read(bombPath(), {})).rejects.toMatchObject({ code: "BUNDLE_LIMIT", message: /expands more than/ });
  });

  it("holds to the number of entries and to the size it may unpack to", async () => {
    const path = forge({ files: [{ name: "0.txt", data: "0".repeat(600) }, { name: "a.txt", data: "a" }, small] });
    const limit = { code: "BUNDLE_LIMIT" };
    await expect(read(path, { limits: { maxEntries: 1 } })).rejects.toMatchObject(limit);
    await expect(read(path, { limits: { maxTotalBytes: 500 } })).rejects.toMatchObject(limit);
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

describe("reading many files", () => {
  it("takes one pass, whatever the bundle's size and the order", async () => {
    // Far more than is held in memory: a pass for every file would not end before the test's time is up.
    const files = Array.from({ length: 3_000 }, (_, i) => ({ name: `f/${i}.bin`, data: randomBytes(8_000) }));
    const temporary = fresh();
    const bundle = await openBundle(forge({ files, isTotalTold: true }), { tempDir: temporary });
    for (const { name, data } of files.toReversed()) expect((await bundle.read(name)).equals(data)).toBe(true);
    expect(readdirSync(temporary)).toEqual([]);
    await bundle.close();
    await expect(bundle.read("f/0.bin")).rejects.toThrow();
  });

  it("checks hashes and looks names up without looking through the whole tree each time", async () => {
    const files = Array.from({ length: 40_000 }, (_, i) => ({ name: `f/${i}.txt`, data: `${i}` }));
    const bundle = await openBundle(forge({ files, isTotalTold: true }));
    for (const { name, data } of files) {
      if (!(await bundle.has(name)) || String(await bundle.read(name)) !== data) expect.unreachable(name);
    }
    await bundle.close();
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
      "bundle/compression/compressor.ts",
      "bundle/compression/decompress.ts",
      "bundle/compression/zstd-codec.ts",
    ]);
  });
});
