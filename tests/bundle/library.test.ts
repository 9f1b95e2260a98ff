// The library as a stranger gets it: another package, another folder, only what package.json exports.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { MANIFEST } from "./forge.js";
import { temporaryFolder } from "./temp.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const home = mkdtempSync(join(temporaryFolder(), "stranger-"));

beforeAll(() => {
  mkdirSync(join(home, "node_modules"));
  symlinkSync(root, join(home, "node_modules/nutcracker"));
  mkdirSync(join(home, "task/context"), { recursive: true });
  writeFileSync(join(home, "task/nutshell.json"), JSON.stringify(MANIFEST));
  writeFileSync(join(home, "task/context/a.md"), "hello\n");
  writeFileSync(join(home, "package.json"), '{"type":"module"}');
});

const EXPORTS = [
  "contentDigest",
  "estimateTokens",
  "listFolder",
  "NutError",
  "openBundle",
  "packFolder",
  "parseManifest",
  "readManifest",
  "unpackBundle",
  "writeManifest",
];

describe("nutcracker/bundle", () => {
  it("packs, opens, reads, verifies, repacks and unpacks", () => {
    writeFileSync(
      join(home, "use.js"),
      `import { contentDigest, NutError, openBundle, packFolder, unpackBundle } from "nutcracker/bundle";
       import { createReadStream } from "node:fs";
       const packed = await packFolder("task", { output: "task.nut" });
       const bundle = await openBundle(createReadStream("task.nut"));
       const entries = await bundle.list();
       const again = await bundle.repack({ output: "again.nut", compression: "zstd" });
       const refusal = await bundle.read("nowhere").catch((error) => error);
       const result = {
         title: bundle.manifest.task.title,
         entries: entries.map(({ path }) => path),
         text: await bundle.readText("context/a.md"),
         has: [await bundle.has("context/a.md"), await bundle.has("x")],
         prefix: (await bundle.byPrefix("context/")).length,
         findings: await bundle.verify(),
         same: again.contentDigest === packed.contentDigest && contentDigest("task") === packed.contentDigest,
         refusal: refusal instanceof NutError && refusal.code,
       };
       await bundle.close();
       const { files } = await unpackBundle("again.nut", "out");
       console.log(JSON.stringify({ ...result, files }));`,
    );
    const out = execFileSync(process.execPath, ["use.js"], { cwd: home, encoding: "utf8" });
    expect(JSON.parse(out)).toEqual({
      title: "a task",
      entries: ["nutshell.json", "context/a.md"],
      text: "hello\n",
      has: [true, false],
      prefix: 1,
      findings: [],
      same: true,
      refusal: "ENTRY_NOT_FOUND",
      files: 2,
    });
  });

  it("exports what it promises, and nothing behind the exports can be reached", () => {
    const list = "console.log(JSON.stringify(Object.keys(await import('nutcracker/bundle'))))";
    const names = execFileSync(process.execPath, ["--input-type=module", "-e", list], { cwd: home, encoding: "utf8" });
    expect(JSON.parse(names)).toEqual(expect.arrayContaining(EXPORTS));
    const deep =
      "import('nutcracker/dist/lib/bundle.js').then(() => process.exit(0), ({ code }) => { console.log(code); process.exit(1) })";
    const refused = spawnSync(process.execPath, ["-e", deep], { cwd: home, encoding: "utf8" });
    expect(refused).toMatchObject({ status: 1, stdout: "ERR_PACKAGE_PATH_NOT_EXPORTED\n" });
  });

  it("has types that a strict program compiles against, and that catch a mistake", () => {
    const good = `import { type Bundle, openBundle, packFolder } from "nutcracker/bundle";
      const bundle: Bundle = await openBundle("x.nut");
      export const title: string | undefined = bundle.manifest.task?.title;
      export const packed = await packFolder("task", { output: "x.nut", compression: "zstd", level: "best" });`;
    writeFileSync(join(home, "good.ts"), good);
    writeFileSync(join(home, "bad.ts"), good.replace('"zstd"', '"rar"'));
    const compile = (file: string) => {
      const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--types", "node"];
      const roots = ["--typeRoots", join(root, "node_modules/@types"), "--skipLibCheck"];
      return spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...flags, ...roots, file], {
        cwd: home,
        encoding: "utf8",
      });
    };
    expect(compile("good.ts")).toMatchObject({ status: 0, stdout: "" });
    const bad = compile("bad.ts");
    expect(bad.status).not.toBe(0);
    expect(bad.stdout).toContain('"rar"');
  });
});
