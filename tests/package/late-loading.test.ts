// What a command loads of its own code, and that it goes on when the code is taken away.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./installed.js";

const folder = mkdtempSync(join(tmpdir(), "nutcracker-late-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(() => {
  for (const name of ["bin", "core", "dist/chunks", "dist/lib", "package.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of ["later.cjs", "nutshell.cjs", "nexus.cjs"])
    cpSync(join(root, "dist", name), join(folder, "dist", name));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(
    join(folder, "tell.cjs"),
    'process.on("exit", () => console.error(Object.keys(require.cache).filter((path) => path.endsWith(".cjs")).length));\n',
  );
});

const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
const filesLoaded = (...args: string[]) =>
  Number(
    node("-r", "./tell.cjs", ...args)
      .stderr.trim()
      .split("\n")
      .at(-1),
  ) - 1;

describe("a command", () => {
  it("loads what it runs and little more", () => {
    expect(filesLoaded("bin/nutshell.js", "version")).toBeLessThanOrEqual(4);
    expect(filesLoaded("bin/nexus.js", "status")).toBeLessThanOrEqual(30);
  });

  it("goes on with what it keeps in memory when its files are gone", () => {
    const files = readdirSync(join(folder, "dist/chunks")).filter((name) => name.endsWith(".cjs"));
    const parts = files.map((name) => name.replace(/\.cjs$/, ""));
    writeFileSync(
      join(folder, "kept.cjs"),
      `const { keepParts, part } = require("./dist/later.cjs");
const before = part(${JSON.stringify(parts[0])});
keepParts();
require("node:fs").renameSync("dist", "gone");
for (const name of ${JSON.stringify(parts)}) part(name);
console.log(part(${JSON.stringify(parts[0])}) === before, Object.keys(part("lib/acceptance")).length > 0);
`,
    );
    const { stdout, stderr } = node("kept.cjs");
    renameSync(join(folder, "gone"), join(folder, "dist"));
    expect({ stdout, stderr }).toEqual({ stdout: "true true\n", stderr: "" });
  });
});
