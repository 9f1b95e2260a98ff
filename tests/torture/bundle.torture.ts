// The long forms of tests/bundle: every truncation and flip, random archives, every step of a filling disk.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { openBundle, packFolder, unpackBundle } from "../../src/bundle/index.js";
import { NutError } from "../../src/errors.js";
import { archive, END, entry, header, longName, MAGIC, MANIFEST, manifest, pax } from "../bundle/forge.js";

const root = mkdtempSync(join(tmpdir(), "nut-torture-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const COMPRESSIONS = ["gzip", "zstd", "none"] as const;

function tree(files: Readonly<Record<string, Buffer>>): string {
  const folder = join(mkdtempSync(join(root, "t-")), "in");
  mkdirSync(folder);
  writeFileSync(join(folder, "nutshell.json"), JSON.stringify(MANIFEST));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** The files that came out, or null when the bundle was refused; anything but a refusal is thrown. */
async function attempt(bytes: Buffer): Promise<Record<string, string> | null> {
  const box = mkdtempSync(join(root, "a-"));
  const path = join(box, "b.nut");
  writeFileSync(path, bytes);
  try {
    await unpackBundle(path, join(box, "out"));
    const out: Record<string, string> = {};
    for (const name of readdirSync(join(box, "out"), { recursive: true, encoding: "utf8" })) {
      const full = join(box, "out", name);
      if (name !== "nutshell.json" && !readdirSyncOrNull(full)) out[name] = readFileSync(full).toString("base64");
    }
    expect(readdirSync(box).sort()).toEqual(["b.nut", "out"]);
    return out;
  } catch (error) {
    if (!(error instanceof NutError)) throw error;
    expect(readdirSync(box)).toEqual(["b.nut"]);
    return null;
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}

function readdirSyncOrNull(path: string): string[] | null {
  try {
    return readdirSync(path);
  } catch {
    return null;
  }
}

describe.each(COMPRESSIONS)("a %s bundle", (compression) => {
  it("is refused at every truncation and every flipped bit, or gives the same files", async () => {
    const files = { "a.txt": Buffer.from("hello"), "b/c.bin": Buffer.alloc(300, 7) };
    const source = tree(files);
    const { path } = await packFolder(source, { output: join(dirname(source), "b.nut"), compression });
    const whole = readFileSync(path);
    const expected = Object.fromEntries(
      Object.entries(files).map(([name, content]) => [name, content.toString("base64")]),
    );
    for (let at = 0; at < whole.length; at += 1) {
      const cut = await attempt(whole.subarray(0, at));
      if (cut !== null) expect(cut, `cut at ${at}`).toEqual(expected);
      // Without compression most bits are content, and one of each byte tells as much as eight.
      for (let bit = compression === "none" ? 7 : 0; bit < 8; bit += 1) {
        const flipped = Buffer.from(whole);
        flipped[at]! ^= 1 << bit;
        const result = await attempt(flipped);
        if (result !== null) expect(result, `bit ${bit} of byte ${at}`).toEqual(expected);
      }
    }
  });
});

const part = fc.oneof(
  fc.record({ name: fc.string({ maxLength: 120 }), data: fc.string({ maxLength: 700 }) }).map(entry),
  fc
    .record({
      name: fc.string({ maxLength: 20 }),
      type: fc.constantFrom(..."01234567gxLKSMVDNXA".split("")),
      data: fc.string({ maxLength: 60 }),
    })
    .map(entry),
  fc
    .tuple(fc.constantFrom("path", "size", "linkpath", "comment", "GNU.sparse.size"), fc.string({ maxLength: 200 }))
    .map(([key, value]) => pax([[key, value]])),
  fc.string({ minLength: 1, maxLength: 300 }).map((name) => longName(name)),
  fc.record({ name: fc.constantFrom("a", "a/b", "../x", "nutshell.json"), size: fc.nat() }).map(header),
  fc.uint8Array({ maxLength: 1024 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(END),
);

it("refuses or unpacks random archives, and never leaves its folder", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 8 }), async (parts) => {
      const before = readdirSync(root).length;
      await attempt(Buffer.concat([MAGIC, gzipSync(archive(...parts))]));
      expect(readdirSync(root).length).toBe(before);
    }),
    { numRuns: 5000 },
  );
});

it("refuses or opens random bytes where an archive should be", async () => {
  const seeds = [gzipSync(archive(entry({ name: "f", data: "x" }))), archive(entry({ name: "f", data: "x" }))];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 20 }),
      async (seed, edits) => {
        const bytes = Buffer.concat([MAGIC, seed]);
        for (const [at, value] of edits) bytes[4 + (at % (bytes.length - 4))] = value;
        await attempt(bytes);
      },
    ),
    { numRuns: 5000 },
  );
});

it("refuses or reads random manifests", async () => {
  const path = join(root, "manifest.nut");
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc.jsonValue().map((value) => JSON.stringify({ ...MANIFEST, files: value, task: value })),
      ),
      async (text) => {
        writeFileSync(path, Buffer.concat([MAGIC, gzipSync(Buffer.concat([manifest(text), END]))]));
        try {
          const bundle = await openBundle(path, { lenient: true });
          await bundle.verify();
          await bundle.list();
        } catch (error) {
          expect(error).toBeInstanceOf(NutError);
        }
      },
    ),
    { numRuns: 5000 },
  );
});

it("makes one member that other readers join", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(2_000_000), { minLength: 1, maxLength: 5 }),
      fc.constantFrom("none", "fast", "default", "best"),
      async (sizes, level) => {
        const files = Object.fromEntries(
          sizes.map((size, index) => [`f${index}`, Buffer.alloc(size, `${index} text `)]),
        );
        const source = tree(files);
        const { path } = await packFolder(source, { output: join(dirname(source), "b.nut"), level: level as "fast" });
        expect(gunzipSync(readFileSync(path).subarray(4)).length % 512).toBe(0);
        rmSync(dirname(source), { recursive: true });
      },
    ),
    { numRuns: 40 },
  );
});

it.skipIf(spawnSync("unshare", ["-m", "true"]).status !== 0)("survives a disk that is full at each of 64 steps", () => {
  const noise = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * index * 31 + index) % 251));
  const source = tree({ noise });
  const library = new URL("../../dist/lib/bundle.js", import.meta.url).href;
  const program = join(root, "full.mjs");
  writeFileSync(
    program,
    `import { packFolder } from ${JSON.stringify(library)};
     packFolder(process.argv[2], { output: process.argv[3], compression: "none" })
       .then(() => process.exit(0), ({ code }) => { console.log(code); process.exit(2); });`,
  );
  const script = `mount -t tmpfs -o size="$3"k none "$2" && printf old > "$2/o.nut" && node "$0" "$1" "$2/o.nut"; code=$?; echo "code=$code"; ls -A "$2"; head -c 3 "$2/o.nut"`;
  for (let step = 1; step <= 64; step += 1) {
    const folder = mkdtempSync(join(root, "full-"));
    const { stdout } = spawnSync("unshare", ["-m", "sh", "-c", script, program, source, folder, String(step * 4)], {
      encoding: "utf8",
    });
    expect(["DISK_FULL\ncode=2\no.nut\nold", "code=0\no.nut\nNUT"], `${step * 4} KiB`).toContain(stdout);
    rmSync(folder, { recursive: true });
  }
});
