import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
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
import { afterEach, beforeEach, expect, it } from "vitest";
import { firstLook } from "../first-look.js";
import { compareTrees, lookAt } from "../tree.js";
import { commitFiles } from "./commit-files.js";
import { indexNotes } from "./index-notes.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-commit-files-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const world = { env: process.env, signal: new AbortController().signal };
const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org", ...args], {
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    encoding: "utf8",
  }).trim();

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  a: "a",
  "in/b.txt": "same",
  "in.txt": "same",
  "in/deep/c": "c\n",
  "größe/日本": "name",
  "line\nbreak": "odd",
  empty: "",
  large: new Uint8Array(3_000_000).fill(7),
  lines: "100644 blob 0\n\n".repeat(50_000),
  ".gitattributes": "*.txt text\n",
};

/** A repository, and a clone of it as a run makes one. */
function clone(format: "sha1" | "sha256" = "sha1"): { readonly folder: string; readonly commit: string } {
  const [repo, folder] = [join(root, "repo"), join(root, "clone")];
  mkdirSync(repo);
  git(repo, "init", "-q", `--object-format=${format}`);
  for (const [path, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(repo, path)), { recursive: true });
    writeFileSync(join(repo, path), content);
  }
  chmodSync(join(repo, "a"), 0o755);
  symlinkSync("in/b.txt", join(repo, "link"));
  git(repo, "add", "--all");
  git(repo, "commit", "-qm", "one");
  git(root, "clone", "-q", "--no-checkout", repo, folder);
  git(folder, "-c", "checkout.workers=2", "-c", "checkout.thresholdForParallelism=1", "read-tree", "-m", "-u", "HEAD");
  return { folder, commit: git(folder, "rev-parse", "HEAD") };
}

const skip = (path: string) => path === ".git";

it.each(["sha1", "sha256"] as const)("knows without reading what git wrote (%s)", async (format) => {
  const { folder, commit } = clone(format);
  const files = (await commitFiles(folder, commit, world))!;
  expect([...files.entries.keys()].slice(0, 2)).toEqual([".gitattributes", "a"]);
  expect(compareTrees({ ...files, takenMs: 0 }, lookAt(folder, { skip }))).toEqual([]);
  expect(files.attributes).toEqual(["*.txt text\n"]);
  const look = await firstLook(folder, skip, {
    entries: files.entries,
    notes: () => indexNotes(folder, commit, files.entries),
  });
  expect(look.tree.entries).toBe(files.entries);
  expect(look.isAsItWas()).toBe(true);
});

it.each<[string, (file: string) => void]>([
  ["was written with the same size and times", (file) => writeFileSync(file, "eman")],
  ["was replaced by a rename", (file) => [writeFileSync(`${file}.new`, "eman"), renameSync(`${file}.new`, file)]],
  [
    "was written through another name",
    (file) => [linkSync(file, join(root, "2")), writeFileSync(join(root, "2"), "eman")],
  ],
  ["has another mode", (file) => chmodSync(file, 0o755)],
  ["is gone", (file) => rmSync(file)],
  ["is a link", (file) => [rmSync(file), symlinkSync("b.txt", file)]],
  ["is not alone", (file) => writeFileSync(`${file}.more`, "")],
  ["lies beside an empty folder", (file) => mkdirSync(`${file}.folder`)],
])("reads every file when one %s since git wrote it", async (_, change) => {
  const { folder, commit } = clone();
  const files = (await commitFiles(folder, commit, world))!;
  const file = join(folder, "in/b.txt");
  const times = statSync(file);
  await new Promise((resolve) => setTimeout(resolve, 60));
  change(file);
  try {
    utimesSync(file, times.atime, times.mtime);
  } catch {
    // It is gone.
  }
  const look = await firstLook(folder, skip, {
    entries: files.entries,
    notes: () => indexNotes(folder, commit, files.entries),
  });
  expect(compareTrees(look.tree, lookAt(folder, { skip }))).toEqual([]);
  expect(compareTrees(look.tree, { ...files, takenMs: 0 })).not.toEqual([]);
});

it("knows submodules as folders, and says nothing where the store lacks a blob", async () => {
  const { folder, commit } = clone();
  git(folder, "update-index", "--add", "--cacheinfo", `160000,${commit},mod/inner`);
  git(folder, "commit", "-qm", "two");
  const files = (await commitFiles(folder, "HEAD", world))!;
  expect([files.submodules, files.entries.get("mod/inner")?.type]).toEqual([["mod/inner"], "folder"]);
  git(folder, "update-index", "--add", "--cacheinfo", `100644,${"12".repeat(20)},lost`);
  const tree = git(folder, "write-tree", "--missing-ok");
  expect(await commitFiles(folder, tree, world)).toBeNull();
});
