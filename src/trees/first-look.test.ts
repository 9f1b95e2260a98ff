import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { firstLook } from "./first-look.js";
import { compareTrees, lookAt } from "./tree.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-first-look-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, content: string | Uint8Array = path) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
};

/** Whatever a name, a link or a file may be. */
function fill(): void {
  for (const path of [
    "a",
    "in/b.txt",
    "in.txt",
    "in/deep/c",
    "-n",
    "-",
    "two words",
    "back\\slash",
    "line\nbreak",
    "größe/日本",
  ])
    put(path);
  put("empty", "");
  put("zero", new Uint8Array([0, 10, 0, 92]));
  put("large", new Uint8Array(5 * 1024 * 1024).fill(7));
  put(".git/config");
  put("left/out/x");
  put("run.sh");
  chmodSync(join(root, "run.sh"), 0o755);
  mkdirSync(join(root, "nothing/in here"), { recursive: true });
  symlinkSync("in/b.txt", join(root, "link"));
  symlinkSync(Buffer.from([0x66, 0xff, 0x66]), join(root, "odd link"));
  symlinkSync("/nowhere", join(root, "dangling"));
  execFileSync("mkfifo", [join(root, "pipe")]);
}

const skip = (path: string) => path === "left" || path.split("/").includes(".git");

it("tells while others are at work whether anything was touched since", async () => {
  put("a");
  put("in/b");
  const { isAsItWasBeside } = await firstLook(root, skip);
  expect(await isAsItWasBeside!()).toBe(true);
  const { mtime } = statSync(join(root, "in/b"));
  put("in/b", "others");
  utimesSync(join(root, "in/b"), mtime, mtime);
  expect(await isAsItWasBeside!()).toBe(false);
});

it("sees what a look sees", async () => {
  fill();
  const { tree, isAsItWas } = await firstLook(root, skip);
  const looked = lookAt(root, { skip });
  expect(new Map([...tree.entries].sort())).toEqual(new Map([...looked.entries].sort()));
  expect(tree.entries.size).toBeGreaterThan(20);
  expect(isAsItWas()).toBe(true);
});

it("spares a later look the reading, and hides nothing from it", async () => {
  fill();
  await setTimeout(60);
  const { tree } = await firstLook(root, skip);
  const same = lookAt(root, { before: tree, skip }).entries;
  expect([...same].every(([path, entry]) => tree.entries.get(path) === entry)).toBe(true);
  const { atime, mtime } = statSync(join(root, "in/b.txt"));
  put("in/b.txt", "in/B.txt");
  put("new", "-n");
  renameSync(join(root, "new"), join(root, "-n"));
  for (const path of ["in/b.txt", "-n"]) utimesSync(join(root, path), atime, mtime);
  const changed = compareTrees(tree, lookAt(root, { before: tree, skip }));
  expect(changed.map(({ path }) => path)).toEqual(["in/b.txt"]);
});

it("looks itself at what the programs cannot read", async () => {
  fill();
  // In the list, and gone when it is read.
  const goes = (path: string) => {
    if (path === "in") rmSync(join(root, "in/b.txt"), { force: true });
    return skip(path);
  };
  const { tree, isAsItWas } = await firstLook(root, goes);
  expect(compareTrees(tree, lookAt(root, { skip }))).toEqual([]);
  expect(isAsItWas()).toBe(false);
});
