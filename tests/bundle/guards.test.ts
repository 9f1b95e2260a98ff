// What packing and unpacking refuse, each line of it, without a process.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { listFolder, openBundle, packFolder, unpackBundle } from "../../src/bundle/index.js";
import { END, entry, MAGIC, MANIFEST, manifest } from "./forge.js";
import { temporaryFolder } from "./temp.js";

const root = temporaryFolder();
const fresh = () => mkdtempSync(join(root, "t-"));

function put(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
function task(files: Record<string, string> = { "a.txt": "a\n" }): string {
  const folder = join(fresh(), "task");
  put(folder, { "nutshell.json": JSON.stringify(MANIFEST), ...files });
  return folder;
}
/** Packs beside the folder and says what lies there afterwards. */
async function pack(folder: string, options: Partial<Parameters<typeof packFolder>[1]> = {}) {
  const output = join(dirname(folder), "out.nut");
  return packFolder(folder, { output, compression: "none", ...options });
}
const left = (folder: string) => readdirSync(dirname(folder)).filter((name) => name !== "task");
function bundle(...parts: Buffer[]): string {
  const path = join(fresh(), "bundle.nut");
  writeFileSync(path, Buffer.concat([MAGIC, ...parts, END]));
  return path;
}

describe("packing", () => {
  it("refuses a link, and a name no bundle may hold", async () => {
    const linked = task();
    symlinkSync("a.txt", join(linked, "link"));
    await expect(pack(linked)).rejects.toMatchObject({ code: "SOURCE_UNSAFE" });
    const named = task({ "a\\b": "x" });
    await expect(pack(named)).rejects.toMatchObject({ code: "SOURCE_UNSAFE" });
    expect([left(linked), left(named)]).toEqual([[], []]);
  });

  it.each([10, 100_000])("follows no link that took the place of a listed file of %i bytes", async (size) => {
    const folder = task({ "a.txt": "a".repeat(size) });
    const listing = listFolder(folder);
    put(dirname(folder), { secret: "s".repeat(size) });
    rmSync(join(folder, "a.txt"));
    symlinkSync("../secret", join(folder, "a.txt"));
    // Tokens are told, so that nothing else opens the file.
    await expect(pack(folder, { listing, contextTokens: 1 })).rejects.toThrow();
    expect(left(folder)).toEqual(["secret"]);
  });

  it.each([
    ["longer", 10, 11],
    ["shorter", 10, 9],
    ["longer", 100_000, 100_001],
  ])("packs a file that became %s since it was listed as it is, or refuses it", async (_how, before, after) => {
    const folder = task({ "a.txt": "a".repeat(before) });
    const listing = listFolder(folder);
    put(folder, { "a.txt": "b".repeat(after) });
    const { path } = await pack(folder, { listing });
    const opened = await openBundle(path);
    expect(String(await opened.read("a.txt"))).toBe("b".repeat(after));
    await opened.close();
  });

  it("refuses a large file that grows while it is read", async () => {
    const folder = task({ "a.txt": "a".repeat(100_000) });
    const grow = () => ({
      chunk: () => writeFileSync(join(folder, "a.txt"), "a".repeat(100_001)),
      end: () => {},
    });
    await expect(pack(folder, { observe: grow })).rejects.toMatchObject({ code: "SOURCE_CHANGED" });
    expect(left(folder)).toEqual([]);
  });

  it("never packs version control, a harness's state, or its own output", async () => {
    const folder = task({ "a.txt": "a", ".git/config": "x", "sub/.HG/x": "x", ".nexus/state/plan.json": "{}" });
    const output = join(folder, "out.nut");
    await packFolder(folder, { output });
    const { left: out } = await packFolder(folder, { output });
    expect(out.map(({ path }) => path).sort()).toEqual([".git/", ".nexus/state/", "out.nut", "sub/.HG/"]);
    const opened = await openBundle(output);
    expect((await opened.list()).map(({ path }) => path)).toEqual(["nutshell.json", "a.txt"]);
    await opened.close();
  });

  it("leaves nothing when an observer or the last approval says no", async () => {
    const no = () => {
      throw new Error("no");
    };
    const folder = task();
    await expect(pack(folder, { observe: () => ({ chunk: no, end: () => {} }) })).rejects.toThrow("no");
    await expect(pack(folder, { approve: no })).rejects.toThrow("no");
    expect(left(folder)).toEqual([]);
  });

  it("shows an observer every byte", async () => {
    const folder = task({ "small.txt": "small", "large.txt": "l".repeat(200_000) });
    const sizes: Record<string, number> = {};
    await pack(folder, {
      observe: (path) => ({
        chunk: (bytes) => {
          sizes[path] = (sizes[path] ?? 0) + bytes.length;
        },
        end: () => {},
      }),
    });
    expect(sizes).toEqual({ "small.txt": 5, "large.txt": 200_000 });
  });

  it("puts every hash and size in the manifest, and run bits in the archive", async () => {
    const folder = task({ "a.txt": "a\n", "run.sh": "#!" });
    chmodSync(join(folder, "run.sh"), 0o755);
    const { path, manifest: packed } = await pack(folder);
    expect(packed.files).toMatchObject({ total_count: 2, total_size_bytes: 4 });
    const opened = await openBundle(path);
    expect(await opened.verify()).toEqual([]);
    expect((await opened.list()).map(({ executable }) => executable)).toEqual([false, false, true]);
    await opened.close();
  });
});

describe("unpacking", () => {
  it("sets aside what programs obey, unless it is trusted by name", async () => {
    const path = bundle(manifest(), entry({ name: "CLAUDE.md", data: "x" }), entry({ name: "a.txt", data: "a" }));
    const out = join(fresh(), "out");
    expect((await unpackBundle(path, out)).quarantined).toEqual(["CLAUDE.md"]);
    expect(readdirSync(out).sort()).toEqual(["a.txt", "nutshell.json", "quarantine"]);
    const trusted = join(fresh(), "out");
    await unpackBundle(path, trusted, { trust: ["CLAUDE.md"] });
    expect(readdirSync(trusted).sort()).toEqual(["CLAUDE.md", "a.txt", "nutshell.json"]);
  });

  it("leaves nothing of a bundle whose manifest does not agree", async () => {
    const tree = [{ path: "a.txt", size: 1, hash: `sha256:${"0".repeat(64)}` }];
    const box = fresh();
    const path = bundle(manifest({ files: { tree } }), entry({ name: "a.txt", data: "a" }));
    await expect(unpackBundle(path, join(box, "out"))).rejects.toMatchObject({ code: "BUNDLE_MISMATCH" });
    expect(readdirSync(box)).toEqual([]);
  });

  it("works where nobody else may look until all is checked", async () => {
    const box = fresh();
    let mode = -1;
    await unpackBundle(bundle(manifest(), entry({ name: "a.txt", data: "a" })), join(box, "out"), {
      onProgress: () => {
        const [staging] = readdirSync(box);
        if (mode === -1) mode = statSync(join(box, staging!)).mode & 0o777;
      },
    });
    expect(mode).toBe(0o700);
    expect(statSync(join(box, "out")).mode & 0o777).toBe(0o777 & ~process.umask());
  });

  it("writes only new files: two names that are one on this disk are refused", async () => {
    const box = fresh();
    const path = bundle(manifest(), entry({ name: "a.txt", data: "a" }), entry({ name: "b.txt", data: "b" }));
    put(box, { victim: "untouched" });
    const plant = ({ path: name }: { path: string }) => {
      const staging = readdirSync(box).find((item) => item.includes(".nut-tmp-"))!;
      if (name === "a.txt") symlinkSync(join(box, "victim"), join(box, staging, "b.txt"));
    };
    await expect(unpackBundle(path, join(box, "out"), { onProgress: plant })).rejects.toMatchObject({
      code: "BUNDLE_UNSAFE_PATH",
    });
    expect(readdirSync(box)).toEqual(["victim"]);
    expect(readFileSync(join(box, "victim"), "utf8")).toBe("untouched");
  });

  it("takes no folder that is full, no file, and no link", async () => {
    const path = bundle(manifest());
    const box = fresh();
    put(box, { "full/x": "x", file: "x" });
    mkdirSync(join(box, "empty"));
    symlinkSync("empty", join(box, "link"));
    for (const name of ["full", "file", "link"]) {
      await expect(unpackBundle(path, join(box, name)), name).rejects.toMatchObject({ code: "FILE_EXISTS" });
    }
    expect(existsSync(join(box, "empty/nutshell.json"))).toBe(false);
    await unpackBundle(path, join(box, "empty"));
  });

  it("refuses on Windows what Windows cannot hold", async () => {
    const path = bundle(manifest(), entry({ name: "con", data: "x" }));
    await expect(unpackBundle(path, join(fresh(), "out"), { platform: "win32" })).rejects.toMatchObject({
      code: "BUNDLE_UNSAFE_PATH",
    });
  });

  it("stops when it is told to, and leaves nothing", async () => {
    const box = fresh();
    const stop = AbortSignal.abort();
    await expect(unpackBundle(bundle(manifest()), join(box, "out"), { signal: stop })).rejects.toThrow();
    expect(readdirSync(box)).toEqual([]);
  });
});
