// Without a .nutignore, what programs made stays out of a bundle, and what is left out is said.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { contentDigest } from "../../src/bundle/index.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { MANIFEST } from "./forge.js";
import { temporaryFolder } from "./temp.js";

const root = temporaryFolder();
const put = (folder: string, files: Record<string, string>) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
};

it("leaves out packages, environments, outputs, earlier bundles and what .gitignore names, and says why", async () => {
  const task = join(root, "task");
  put(task, {
    "nutshell.json": JSON.stringify(MANIFEST),
    "files/package.json": "{}",
    "files/index.js": "1;\n",
    "files/node_modules/left/index.js": "x".repeat(5000),
    "files/dist/index.js": "2;\n",
    "env/pyvenv.cfg": "",
    "env/lib/site.py": "",
    "earlier.nut": "NUT",
    "notes.log": "mine\n",
    ".gitignore": "*.log\n",
    "delivery/artifacts/dist/made.js": "3;\n",
    "delivery/artifacts/package.json": "{}",
  });
  execFileSync("git", ["-C", task, "init", "-q"]);
  const list = async () => JSON.parse((await runNutshell(["pack", "task", "--list", "--json"], { cwd: root })).out);
  const { entries, left, left_bytes } = await list();
  const names = entries.map(({ path }: { path: string }) => path);
  expect(names).toEqual([
    "nutshell.json",
    ".gitignore",
    "delivery/artifacts/dist/made.js",
    "delivery/artifacts/package.json",
    "files/index.js",
    "files/package.json",
  ]);
  expect(left.sort((a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: ".git/", reason: "never packed" },
    { path: "earlier.nut", reason: "earlier bundle" },
    { path: "env/", reason: "build output" },
    { path: "files/dist/", reason: "build output" },
    { path: "files/node_modules/", reason: "build output" },
    { path: "notes.log", reason: "in .gitignore" },
  ]);
  expect(left_bytes).toBe(5000 + 3 + 3 + 5);
  const packed = await runNutshell(["pack", "task", "-o", "x.nut", "--force"], { cwd: root });
  expect(packed.out).toContain("left out: ");
  const inspected = JSON.parse((await runNutshell(["inspect", "x.nut", "--json"], { cwd: root })).out);
  expect(inspected.content_digest).toBe(contentDigest(task));
  // A .nutignore decides alone, an empty one too.
  put(task, { ".nutignore": "" });
  const all = (await list()).entries.map(({ path }: { path: string }) => path);
  expect(all).toEqual(expect.arrayContaining(["files/node_modules/left/index.js", "notes.log", "earlier.nut"]));
});
