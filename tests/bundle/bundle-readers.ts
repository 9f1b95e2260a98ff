// Every way to read a bundle, and bundles to try them on.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { type Bundle, type OpenOptions, openBundle, unpackBundle } from "../../src/bundle/index.js";
import { temporary } from "../temporary.js";
import { END, entry, MAGIC, manifest } from "./forge.js";

export const fresh = () => temporary("nut-test-");
export const sha256 = (bytes: string | Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

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
  /** 1 for much that nobody wants small. */
  readonly level?: number;
}

/** A bundle whose manifest lists every file. */
export function forge({ files, isTotalTold = false, level = 6 }: Forgery): string {
  const tree = files.map(({ name, data, hash }) => ({
    path: name,
    size: Buffer.byteLength(data as string),
    hash: hash ?? sha256(data),
  }));
  const total = tree.reduce((sum, { size }) => sum + size, 0);
  const claims = { tree, ...(isTotalTold ? { total_count: tree.length, total_size_bytes: total } : {}) };
  const parts = [manifest({ files: claims }), ...files.map((file) => entry(file)), END];
  const path = join(fresh(), "bundle.nut");
  writeFileSync(path, Buffer.concat([MAGIC, gzipSync(Buffer.concat(parts), { level })]));
  return path;
}

type Reader = (path: string, options: OpenOptions) => Promise<unknown>;

const opened =
  (read: (bundle: Bundle) => Promise<unknown>, also: OpenOptions = {}): Reader =>
  async (path, options) => {
    const bundle = await openBundle(path, { ...options, ...also });
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

/** Those that hand out a file. */
export const READERS: Readonly<Record<string, Reader>> = {
  read: opened((bundle) => bundle.read("a.txt")),
  "read, often": opened((bundle) => readOften(bundle, "a.txt")),
  readText: opened((bundle) => bundle.readText("a.txt")),
  "read, kept": opened(
    async (bundle) => {
      await bundle.list();
      return bundle.read("a.txt");
    },
    { keep: "a.txt" },
  ),
  stream: opened((bundle) => buffer(bundle.stream("a.txt"))),
  unpack: (path, options) => unpackBundle(path, join(fresh(), "out"), options),
  repack: opened((bundle) => bundle.repack({ output: join(fresh(), "again.nut") })),
};

/** Those that look at everything and hand out no file. */
export const LOOKING: Readonly<Record<string, Reader>> = {
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

export const small = { name: "z.txt", data: "the end\n" };
