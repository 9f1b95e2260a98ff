import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { identityOf } from "./identity.js";
import { GitStore } from "./store.js";

let folder: string;
let repo: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-store-"));
  repo = join(folder, "repo");
  mkdirSync(repo);
  git("init", "-q", "-b", "main");
  writeFileSync(join(repo, "a.txt"), "a\n");
  git("add", "a.txt");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
    cwd: repo,
    encoding: "utf8",
  }).trim();
const world = (more: Record<string, string> = {}) => ({
  env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1", ...more },
  signal: new AbortController().signal,
});

describe("a commit of work", () => {
  it("puts no file in a submodule's place", async () => {
    git("commit", "-qm", "one");
    git("update-index", "--add", "--cacheinfo", `160000,${git("rev-parse", "HEAD")},mod`);
    git("commit", "-qm", "two");
    const base = git("rev-parse", "HEAD");
    const result = join(folder, "result");
    mkdirSync(join(result, "mod"), { recursive: true });
    for (const path of ["a.txt", "mod/z", "model"]) writeFileSync(join(result, path), "new\n");
    const scratch = join(folder, "scratch");
    mkdirSync(scratch);
    const store = await GitStore.open({ repo, scratch }, world());
    const author = { name: "Ada", email: "ada@example.org" };
    const commit = (paths: string[]) => store.commit({ base, result, paths, message: "work", author, at: new Date(0) });
    const told = "mod/z lies in the submodule mod, which is a repository of its own";
    await expect(commit(["a.txt", "mod/z"])).rejects.toMatchObject({ code: "REPOSITORY_FAILED", message: told });
    expect(await commit(["a.txt", "model"])).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe("who somebody is to git", () => {
  it("is known whatever day they say it is", async () => {
    const known = { GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" };
    const bogus = { ...known, GIT_COMMITTER_DATE: "bogus", GIT_AUTHOR_DATE: "bogus" };
    expect(await identityOf(repo, "COMMITTER", world(bogus))).toEqual({ name: "Ada", email: "ada@example.org" });
    expect(await identityOf(repo, "COMMITTER", world({ GIT_COMMITTER_NAME: "", EMAIL: "" }))).toBeNull();
  });
});
