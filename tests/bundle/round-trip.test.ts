import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contentDigest, openBundle, packFolder, pathProblem, unpackBundle } from "../../src/bundle/index.js";
import { NutError } from "../../src/errors.js";
import { MANIFEST } from "./forge.js";
import { temporaryFolder } from "./temp.js";

const root = temporaryFolder();
const fresh = () => mkdtempSync(join(root, "t-"));
const COMPRESSIONS = ["gzip", "zstd", "none"] as const;

type Tree = Readonly<Record<string, Buffer>>;

function write(folder: string, tree: Tree, manifest: object = MANIFEST): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "nutshell.json"), JSON.stringify(manifest));
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function read(folder: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const full = join(folder, path);
    const found = statSync(full);
    const mode = (found.mode & 0o100) === 0 ? "" : "x";
    if (path !== "nutshell.json") {
      result[path] = found.isDirectory() ? "folder" : mode + readFileSync(full).toString("base64");
    }
  }
  return result;
}

const hasProgram = (name: string) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;

const word = fc.stringMatching(/^[A-Za-z0-9 _.é東+@-]{1,20}$/u);
/** Paths that can live together: legal, nobody's parent, not the manifest, nothing that programs obey. */
function legal(paths: readonly (readonly [string, Uint8Array])[]): Tree {
  const kept: Record<string, Buffer> = {};
  const taken = new Set<string>();
  for (const [path, content] of paths) {
    const steps = path.split("/");
    const parents = steps.slice(0, -1).map((_, index) => steps.slice(0, index + 1).join("/"));
    const clash = parents.some((parent) => kept[parent] !== undefined) || taken.has(path);
    if (clash || path.startsWith(".") || path === "nutshell.json" || pathProblem(path) !== null) continue;
    kept[path] = Buffer.from(content);
    for (const parent of parents) taken.add(parent);
  }
  return kept;
}

const trees = fc
  .array(
    fc.tuple(
      fc.array(word, { minLength: 1, maxLength: 4 }).map((steps) => steps.join("/")),
      fc.uint8Array({ maxLength: 3000 }),
    ),
    { maxLength: 12 },
  )
  .map(legal);

describe("pack and unpack", () => {
  it("give back what went in", async () => {
    await fc.assert(
      fc.asyncProperty(trees, fc.constantFrom(...COMPRESSIONS), async (tree, compression) => {
        const box = fresh();
        const source = write(join(box, "in"), tree);
        const packed = await packFolder(source, { output: join(box, "b.nut"), compression });
        const unpacked = await unpackBundle(packed.path, join(box, "out"));
        expect(read(join(box, "out"))).toEqual(read(source));
        expect(unpacked.contentDigest).toBe(packed.contentDigest);
        expect(contentDigest(source)).toBe(packed.contentDigest);
        expect(contentDigest(join(box, "out"))).toBe(packed.contentDigest);
        expect(unpacked.findings.filter(({ severity }) => severity === "error")).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it("keep run bits, empty folders, long and foreign names, hidden files, large files", async () => {
    const box = fresh();
    const source = write(join(box, "in"), {
      "run.sh": Buffer.from("#!/bin/sh\n"),
      ".env.example": Buffer.from("A=1\n"),
      ".github/workflows/x.yml": Buffer.from("on: push\n"),
      [`deep/${"n".repeat(200)}.txt`]: Buffer.from("long"),
      [`${"folder/".repeat(30)}é.txt`]: Buffer.from("split"),
      "big.bin": Buffer.alloc(3_000_000, "not all the same "),
      "empty.txt": Buffer.alloc(0),
    });
    chmodSync(join(source, "run.sh"), 0o755);
    mkdirSync(join(source, "empty/inner"), { recursive: true });
    const { path } = await packFolder(source, { output: join(box, "b.nut") });
    await unpackBundle(path, join(box, "out"));
    expect(read(join(box, "out"))).toEqual(read(source));
  });

  it("give the same bytes again and one digest for every compression, whatever the times and modes", async () => {
    const box = fresh();
    const source = write(join(box, "in"), { "a/b": Buffer.from("1"), c: Buffer.alloc(2_000_000, "abc") });
    const one = await packFolder(source, { output: join(box, "1.nut") });
    chmodSync(join(source, "c"), 0o600);
    execFileSync("touch", ["-d", "2001-02-03", join(source, "a/b")]);
    const two = await packFolder(source, { output: join(box, "2.nut") });
    expect(two.hash).toBe(one.hash);
    expect(readFileSync(one.path).equals(readFileSync(two.path))).toBe(true);
    for (const compression of COMPRESSIONS) {
      const other = await packFolder(source, { output: join(box, `${compression}.nut`), compression, level: "fast" });
      expect(other.contentDigest).toBe(one.contentDigest);
    }
    writeFileSync(join(source, "c"), "changed");
    expect(contentDigest(source)).not.toBe(one.contentDigest);
  });

  it("keep unknown fields, their order and their spelling", async () => {
    const box = fresh();
    const source = write(join(box, "in"), { f: Buffer.from("x") });
    const text = `{"zeta": 1.0, ${JSON.stringify(MANIFEST).slice(1, -1)}, "extensions": {"n": 12345678901234567890, "s": "\\u0041\\/", "e": 1E2}, "files": {"note": true, "tree": [{"path": "f", "size": 99, "role": "reference", "x": 0.10}]}}`;
    writeFileSync(join(source, "nutshell.json"), text);
    const { path } = await packFolder(source, { output: join(box, "b.nut") });
    const packed = (await openBundle(path)).manifestBytes.toString("utf8");
    for (const kept of ['"zeta": 1.0', "12345678901234567890", '"\\u0041\\/"', "1E2", '"role": "reference"', "0.10"]) {
      expect(packed).toContain(kept);
    }
    expect(packed.indexOf("zeta")).toBeLessThan(packed.indexOf("nutshell_version"));
    expect(readFileSync(join(source, "nutshell.json"), "utf8")).toBe(text);
  });

  it("refuse every truncation and every flipped byte, or give the same files", async () => {
    const box = fresh();
    const source = write(join(box, "in"), { "a.txt": Buffer.from("hello"), "b/c.bin": Buffer.alloc(700, 7) });
    const expected = read(source);
    for (const compression of COMPRESSIONS) {
      const { path } = await packFolder(source, { output: join(box, `${compression}.nut`), compression });
      const whole = readFileSync(path);
      const broken = join(box, "broken.nut");
      const step = compression === "none" ? 37 : 3;
      let refused = 0;
      for (let at = 0; at < whole.length; at += step) {
        for (const bytes of [whole.subarray(0, at), flip(whole, at)]) {
          writeFileSync(broken, bytes);
          const out = join(box, "out");
          try {
            await unpackBundle(broken, out);
            // The manifest is not covered by a hash of its own when nothing compresses it; the files are.
            expect(read(out)).toEqual(expected);
            execFileSync("rm", ["-rf", out]);
          } catch (error) {
            expect(error).toBeInstanceOf(NutError);
            expect(existsSync(out)).toBe(false);
            refused += 1;
          }
        }
      }
      expect(refused).toBeGreaterThan(whole.length / step / 2);
    }
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1 << (at % 8);
  return copy;
}

describe("other tools", () => {
  it("read ours: tar, gzip", async () => {
    const box = fresh();
    const source = write(join(box, "in"), { "a/b.txt": Buffer.from("1"), "é.txt": Buffer.alloc(1_500_000, "xy ") });
    const { path } = await packFolder(source, { output: join(box, "b.nut") });
    mkdirSync(join(box, "out"));
    execFileSync("sh", ["-c", `tail -c +5 ${path} | tar xz -C ${join(box, "out")}`]);
    expect(read(join(box, "out"))).toEqual(read(source));
    execFileSync("sh", ["-c", `tail -c +5 ${path} | gzip -t`]);
    const listed = execFileSync("sh", ["-c", `tail -c +5 ${path} | tar tz`], { encoding: "utf8" });
    expect(listed.split("\n")[0]).toBe("nutshell.json");
  });

  it.skipIf(!hasProgram("pigz"))("read ours: pigz", async () => {
    const box = fresh();
    const source = write(join(box, "in"), { "a.txt": Buffer.alloc(1_500_000, "xyz ") });
    const { path } = await packFolder(source, { output: join(box, "b.nut") });
    execFileSync("sh", ["-c", `tail -c +5 ${path} | pigz -t`]);
  });

  it.skipIf(!hasProgram("zstd"))("read our zstd, and we theirs", async () => {
    const box = fresh();
    const source = write(join(box, "in"), { "a.txt": Buffer.alloc(5_000_000, "some text "), b: Buffer.from("b") });
    const { path } = await packFolder(source, { output: join(box, "b.nut"), compression: "zstd" });
    mkdirSync(join(box, "out"));
    execFileSync("sh", ["-c", `tail -c +5 ${path} | zstd -dq | tar x -C ${join(box, "out")}`]);
    expect(read(join(box, "out"))).toEqual(read(source));
    for (const [name, flags] of Object.entries({
      stream: "",
      unchecked: "--no-check",
      fast: "-1",
      long: "--long=24",
    })) {
      const theirs = join(box, `${name}.nut`);
      const make = `cd ${join(box, "out")} && (printf 'NUT\\001'; tar c nutshell.json a.txt b | zstd -qc ${flags}) > ${theirs}`;
      execFileSync("sh", ["-c", make]);
      await unpackBundle(theirs, join(box, name));
      expect(read(join(box, name))).toEqual(read(source));
      const damaged = readFileSync(theirs);
      damaged[damaged.length - 2]! ^= 1;
      writeFileSync(theirs, damaged);
      await expect(unpackBundle(theirs, join(box, `${name}-2`))).rejects.toBeInstanceOf(NutError);
    }
  });
});

describe("openBundle", () => {
  it("lists, reads, streams and repacks from a file and from a stream", async () => {
    const box = fresh();
    const big = Buffer.alloc(20_000_000, "0123456789abcdef");
    const source = write(join(box, "in"), { "a/b.txt": Buffer.from("text ✓"), "a/c": Buffer.from([0xff]), big });
    const { path, contentDigest: digest } = await packFolder(source, { output: join(box, "b.nut"), level: "fast" });
    for (const given of [path, Readable.from([readFileSync(path)])]) {
      const bundle = await openBundle(given);
      expect(bundle.manifest.task?.title).toBe("a task");
      expect((await bundle.list()).map(({ path: name }) => name)).toEqual(["nutshell.json", "a/b.txt", "a/c", "big"]);
      expect(await bundle.readText("a/b.txt")).toBe("text ✓");
      await expect(bundle.readText("a/c")).rejects.toMatchObject({ code: "BUNDLE_CORRUPT" });
      await expect(bundle.read("nowhere")).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
      expect([await bundle.has("big"), await bundle.has("a"), await bundle.has("nutshell.json")]).toEqual([
        true,
        false,
        true,
      ]);
      expect((await bundle.byPrefix("a/")).map(({ size }) => size)).toEqual([8, 1]);
      expect(await bundle.verify()).toEqual([]);
      let streamed = 0;
      for await (const piece of bundle.stream("big")) streamed += (piece as Buffer).length;
      expect(streamed).toBe(big.length);
      expect(await bundle.contentDigest()).toBe(digest);
      const repacked = await bundle.repack({ output: join(box, "r.nut"), compression: "none" });
      expect(repacked.contentDigest).toBe(digest);
      const copy = bundle.path;
      await bundle.close();
      expect(existsSync(copy)).toBe(copy === path);
    }
  });

  it("reads only the beginning of a bundle for its manifest", async () => {
    const box = fresh();
    const noise = Buffer.from(Array.from({ length: 4_000_000 }, (_, index) => (index * 7919) >> 3));
    const source = write(join(box, "in"), { noise });
    const { path } = await packFolder(source, { output: join(box, "b.nut"), compression: "none" });
    const whole = readFileSync(path);
    const half = join(box, "half.nut");
    writeFileSync(half, whole.subarray(0, 400_000));
    const bundle = await openBundle(half);
    expect(bundle.manifest.files?.total_count).toBe(1);
    expect((await bundle.verify()).map(({ code }) => code)).toEqual(["BUNDLE_CORRUPT"]);
  });
});

describe.each(COMPRESSIONS)("an interrupt while packing with %s", (compression) => {
  it("is heard, and leaves nothing", async () => {
    const text = Buffer.from("some text that repeats ".repeat(40_000));
    const tree = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`files/f${index}`, text]));
    const folder = write(join(fresh(), "in"), tree);
    const controller = new AbortController();
    const options = { output: join(dirname(folder), "out.nut"), compression, signal: controller.signal };
    // A timer fires only when the packer lets others have their turn, as a signal's handler does.
    const onProgress = ({ done }: { done: number }) => {
      if (done === 1) setTimeout(() => controller.abort(), 0);
    };
    await expect(packFolder(folder, { ...options, onProgress })).rejects.toThrow(/abort/i);
    expect(readdirSync(dirname(folder))).toEqual(["in"]);
  });
});
