import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeFolder } from "./make-folder.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-make-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it("makes what is missing and names the outermost, with the mode it is told", () => {
  expect(makeFolder(join(root, "a/b/c"), 0o700)).toBe(join(root, "a"));
  expect(statSync(join(root, "a/b/c")).mode & 0o777).toBe(0o700);
  expect(makeFolder(join(root, "a/b/c"))).toBeNull();
  expect(makeFolder(join(root, "a/b/d"))).toBe(join(root, "a/b/d"));
});

it("follows a link to a folder, and says what is in the way of one that leads nowhere", () => {
  mkdirSync(join(root, "real"));
  symlinkSync("real", join(root, "link"));
  expect(makeFolder(join(root, "link/x"))).toBe(join(root, "link/x"));
  symlinkSync("nowhere", join(root, "gone"));
  expect(() => makeFolder(join(root, "gone/x/y"))).toThrow(/EEXIST/);
  writeFileSync(join(root, "file"), "");
  expect(() => makeFolder(join(root, "file/x"))).toThrow(/ENOTDIR/);
});

// The kernel's own folders are on a disk that takes none, whoever asks.
it.skipIf(!existsSync("/proc/self"))("tells the system's own reason, and leaves nothing", () => {
  for (const path of ["/proc/nut-none", "/proc/nut-none/a/b"])
    expect(() => makeFolder(path)).toThrow(expect.objectContaining({ path: "/proc/nut-none" }));
});
