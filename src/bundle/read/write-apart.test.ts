import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { END, entry, MAGIC, manifest } from "../../../tests/bundle/forge.js";
import { temporary } from "../../../tests/temporary.js";
import { WriteFailure } from "./file-writer.js";
import { unpackBundle } from "./unpack-bundle.js";
import { FilesApart } from "./write-apart.js";

const BLOCK = 512 * 1024;
const root = () => temporary("nut-apart-");

async function apart(folder: string, use: (files: FilesApart) => Promise<void>): Promise<void> {
  const files = new FilesApart(folder);
  try {
    await use(files);
  } finally {
    await files.close();
  }
}

function put(files: FilesApart, path: string, ...pieces: string[]): void {
  files.begin(path, path.endsWith(".sh"));
  for (const piece of pieces) files.write(Buffer.from(piece));
  files.end();
}

describe("writing on a thread of its own", () => {
  it("writes files of every size, their run bits, and folders in their order", async () => {
    const folder = root();
    const contents: Record<string, string[]> = {
      empty: [],
      "small.sh": ["a", "b"],
      block: ["x".repeat(BLOCK)],
      more: ["y".repeat(BLOCK - 1), "z".repeat(2 * BLOCK), "end"],
      "sub/last": ["last"],
    };
    await apart(folder, async (files) => {
      files.folder("sub");
      for (const [path, pieces] of Object.entries(contents)) {
        put(files, path, ...pieces);
        await files.turn();
      }
      await files.finish();
    });
    for (const [path, pieces] of Object.entries(contents)) {
      expect(readFileSync(join(folder, path), "utf8") === pieces.join(""), path).toBe(true);
    }
    const mode = (path: string) => statSync(join(folder, path)).mode & 0o100;
    expect([mode("small.sh"), mode("more")]).toEqual([0o100, 0]);
  });

  it("follows no link that lies in a file's place, and tells the system's own error [P3]", async () => {
    const folder = root();
    writeFileSync(join(folder, "victim"), "untouched");
    symlinkSync("victim", join(folder, "b"));
    await apart(folder, async (files) => {
      for (const path of ["a", "b", "c"]) put(files, path, "new");
      const failure = await files.finish().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(WriteFailure);
      expect(failure).toMatchObject({ path: "b", cause: { code: "EEXIST", syscall: "open" } });
      await expect(files.turn()).rejects.toBe(failure);
    });
    expect(readFileSync(join(folder, "victim"), "utf8")).toBe("untouched");
    expect(readdirSync(folder).sort()).toEqual(["a", "b", "victim"]);
  });

  it("refuses to go on when the thread has ended", async () => {
    const files = new FilesApart(root());
    await files.close();
    put(files, "a", "a");
    await expect(files.finish()).rejects.toThrow("has ended");
  });
});

describe("a bundle of many files", () => {
  const COUNT = 4000;
  const many = (last: Buffer = Buffer.alloc(0)) => {
    const path = join(root(), "many.nut");
    const files = Array.from({ length: COUNT }, (_, index) =>
      entry({ name: `files/d${index % 7}/f${index}`, data: `file ${index}\n`.repeat(index % 50) }),
    );
    writeFileSync(path, Buffer.concat([MAGIC, manifest(), ...files, last, END]));
    return path;
  };

  it("is unpacked whole", async () => {
    const out = join(root(), "out");
    expect(await unpackBundle(many(), out)).toMatchObject({ files: COUNT + 1 });
    for (const index of Array(COUNT).keys()) {
      const text = readFileSync(join(out, `files/d${index % 7}/f${index}`), "utf8");
      if (text !== `file ${index}\n`.repeat(index % 50)) expect.fail(`files/d${index % 7}/f${index}`);
    }
  });

  it("leaves nothing when its end is refused, or somebody stops it [P3]", async () => {
    const box = root();
    const bad = many(entry({ name: "../out", data: "x" }));
    await expect(unpackBundle(bad, join(box, "out"))).rejects.toMatchObject({ code: "BUNDLE_UNSAFE_PATH" });
    const stop = new AbortController();
    const onProgress = ({ done }: { done: number }) => done === COUNT - 5 && stop.abort();
    const twice = many(entry({ name: "files/large", data: "x".repeat(2 * BLOCK) }));
    await expect(unpackBundle(twice, join(box, "out"), { signal: stop.signal, onProgress })).rejects.toThrow();
    expect(readdirSync(box)).toEqual([]);
  });
});
