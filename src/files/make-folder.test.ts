import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeFolder } from "./make-folder.js";

const ROUNDS = 3_000;
const now = new Int32Array(new SharedArrayBuffer(4));
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

it("is made although somebody else makes what is above it at the same moment", async () => {
  // The other makes the folder above as soon as it is named, between our looks at it in some of many rounds.
  const other = new Worker(
    `const { mkdirSync } = require("node:fs"); const { workerData: { root, now } } = require("node:worker_threads");
     for (let done = 0; done < ${ROUNDS};) {
       const next = Atomics.load(now, 0);
       if (next > done) mkdirSync(root + "/" + (done = next), { recursive: true });
     }`,
    { eval: true, workerData: { root, now } },
  );
  const ended = once(other, "exit");
  await once(other, "online");
  for (let round = 1; round <= ROUNDS; round += 1) {
    Atomics.store(now, 0, round);
    makeFolder(join(root, String(round), "a"));
  }
  await ended;
});
