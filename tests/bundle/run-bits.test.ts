// Disks without run bits (Windows): the content digest is that of the same tree elsewhere.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { contentDigest, listFolder, packFolder, unpackBundle } from "../../src/bundle/index.js";

let work: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "nut-bits-"));
  mkdirSync(join(work, "task/tests"), { recursive: true });
  const manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: "nut-1",
    task: { title: "a", summary: "b" },
  };
  writeFileSync(join(work, "task/nutshell.json"), JSON.stringify(manifest));
  writeFileSync(join(work, "task/tests/run.sh"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(work, "task/tests/data.txt"), "data\n");
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

/** As the folder is seen where no file has a run bit. */
const windows = (folder: string) => {
  chmodSync(join(folder, "tests/run.sh"), 0o644);
  return listFolder(folder, { platform: "win32" });
};
const pack = (folder: string, name: string, listing?: ReturnType<typeof listFolder>) =>
  packFolder(folder, { output: join(work, name), ...(listing === undefined ? {} : { listing }) });

it("keeps the digest of a bundle that was unpacked and packed there", async () => {
  const here = contentDigest(join(work, "task"));
  expect((await pack(join(work, "task"), "a.nut")).contentDigest).toBe(here);
  await unpackBundle(join(work, "a.nut"), join(work, "got"));
  expect(readFileSync(join(work, "got/nutshell.json"), "utf8")).toContain('"executable": true');
  const there = await pack(join(work, "got"), "b.nut", windows(join(work, "got")));
  expect(there.contentDigest).toBe(here);
  expect((await unpackBundle(join(work, "b.nut"), join(work, "back"))).contentDigest).toBe(here);
  expect(contentDigest(join(work, "back"))).toBe(here);
});

it("takes run bits from git's index where nothing was packed yet", async () => {
  const here = contentDigest(join(work, "task"));
  const git = (...words: string[]) => execFileSync("git", words, { cwd: join(work, "task"), stdio: "ignore" });
  git("init", "-q");
  git("add", ".");
  const there = await pack(join(work, "task"), "b.nut", windows(join(work, "task")));
  expect(there.contentDigest).toBe(here);
});
