// What a command loads of its own code, and that it goes on when the code is taken away.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { root } from "./installed.js";

const folder = mkdtempSync(join(tmpdir(), "nutcracker-late-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(() => {
  for (const name of ["bin", "core", "dist/chunks", "dist/lib", "package.json"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of ["later.cjs", "compiled.cjs", "nutshell.cjs", "nexus.cjs"])
    cpSync(join(root, "dist", name), join(folder, "dist", name));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
});
beforeEach(() => rmSync(join(folder, ".cache"), { recursive: true, force: true }));

const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env });
const env = { PATH: process.env.PATH, HOME: folder };

const kept = join(folder, ".cache/compiled");
/** Name of a part → its file, as far as anything is kept. */
const keptParts = () =>
  new Map(
    readdirSync(kept, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [name, join(parentPath, name)]),
  );
/** Each command's parts are kept when it ends. */
const partsLoaded = (...args: string[]) => {
  node(...args);
  const parts = keptParts().size;
  rmSync(kept, { recursive: true });
  return parts;
};

describe("a command", () => {
  it("loads what it runs and little more", () => {
    expect(partsLoaded("bin/nutshell.js", "version")).toBeLessThanOrEqual(2);
    expect(partsLoaded("bin/nexus.js", "status")).toBeLessThanOrEqual(28);
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

describe("what the engine made of our code", () => {
  const version = () => {
    const { stdout, stderr, status } = node("bin/nutshell.js", "version", "--json");
    return { stdout, stderr, status };
  };
  const times = () => [...keptParts().values()].map((path) => statSync(path).mtimeMs);

  it("is kept by the first command, and taken by the next", () => {
    const first = version();
    const before = times();
    expect(before.length).toBeGreaterThan(0);
    expect(version()).toEqual(first);
    expect(times()).toEqual(before);
  });

  it("is made anew when a byte of it changed, or it is of another part", () => {
    const first = version();
    for (const [name, path] of keptParts()) {
      const whole = readFileSync(path);
      const spoilt = [...Array(40).keys()].map((nth) => {
        const copy = Buffer.from(whole);
        copy[Math.floor((nth * copy.length) / 40)]! ^= 0x10;
        return copy;
      });
      for (const bytes of [...spoilt, whole.subarray(0, whole.length / 2), Buffer.alloc(0), Buffer.alloc(4096)]) {
        writeFileSync(path, bytes);
        expect(version(), name).toEqual(first);
        expect(readFileSync(path).equals(bytes)).toBe(false);
      }
    }
  }, 60_000);

  it("is kept by the package's owner alone, and not where Node is told to keep nothing", () => {
    const told = { ...env, NODE_DISABLE_COMPILE_CACHE: "1" };
    spawnSync(process.execPath, ["bin/nutshell.js", "version"], { cwd: folder, env: told });
    expect(existsSync(join(folder, ".cache"))).toBe(false);
    // Nobody but root can give a folder away, and nobody but root can write to one that was.
    const dist = join(folder, "dist");
    if (process.getuid?.() === 0) chownSync(dist, 65_534, 65_534);
    else chmodSync(folder, 0o555);
    const asked = version();
    if (process.getuid?.() === 0) chownSync(dist, 0, 0);
    else chmodSync(folder, 0o755);
    expect(asked).toMatchObject({ status: 0, stderr: "" });
    expect(existsSync(join(folder, ".cache"))).toBe(false);
  });

  it("is kept in folders of our own, never behind a link, and nothing else there is removed", () => {
    const elsewhere = join(folder, "elsewhere");
    for (let nth = 0; nth < 9; nth += 1) mkdirSync(join(elsewhere, `of-a-person-${nth}`), { recursive: true });
    for (const way of ["", "compiled"]) {
      rmSync(join(folder, ".cache"), { recursive: true, force: true });
      if (way !== "") mkdirSync(join(folder, ".cache"));
      symlinkSync(elsewhere, join(folder, ".cache", way));
      expect(version()).toMatchObject({ status: 0, stderr: "" });
    }
    expect(readdirSync(elsewhere)).toHaveLength(9);
    rmSync(join(folder, ".cache"), { recursive: true });
    for (let nth = 0; nth < 9; nth += 1) mkdirSync(join(kept, `of-a-person-${nth}`), { recursive: true });
    version();
    expect(readdirSync(kept)).toHaveLength(10);
    rmSync(elsewhere, { recursive: true });
  });

  it("leaves no draft where the disk takes none", () => {
    version();
    for (const path of keptParts().values()) {
      rmSync(path);
      mkdirSync(join(path, "in-the-way"), { recursive: true });
    }
    expect(version()).toMatchObject({ status: 0, stderr: "" });
    expect([...keptParts().keys()]).toEqual([]);
  });

  it("does not pile up", () => {
    version();
    const [path] = keptParts().values();
    for (let nth = 0; nth < 1_501; nth += 1) writeFileSync(join(dirname(path!), `old-${nth}`), "");
    rmSync(path!);
    version();
    expect(keptParts().size).toBeLessThan(10);
    for (let nth = 0; nth < 12; nth += 1) node(`--stack-size=${900 + nth}`, "bin/nutshell.js", "version");
    expect(readdirSync(kept).length).toBe(6);
  });
});
