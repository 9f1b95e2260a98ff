// A repository says in its own settings which programs git starts: a watcher, filters, what fetches missing objects. Git
// refuses to look into another user's for that reason; we read them, and start nothing of theirs.
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openRepository } from "../../src/run/open/workspace.js";
import { findCommit, repositoryAt, repositoryFacts, submodules } from "../../src/trees/git/repository.js";

let root: string;
let repo: string;
const world = { env: process.env, signal: new AbortController().signal };

const git = (...args: string[]) => {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "safe.directory=*"];
  const { status, stdout, stderr } = spawnSync("git", ["-C", repo, ...identity, ...args], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  return stdout.trim();
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-walls-"));
  chmodSync(root, 0o755);
  repo = join(root, "repo");
  mkdirSync(join(root, "started"), { mode: 0o777 });
  mkdirSync(repo);
  git("init", "-q", "-b", "main");
  writeFileSync(join(repo, "a.txt"), "one\n");
  writeFileSync(join(repo, ".gitattributes"), "*.txt filter=theirs diff=theirs\n");
  git("add", ".");
  git("commit", "-qm", "start");
  // A file that git must look into, because it is not as old as the index says.
  writeFileSync(join(repo, "a.txt"), "two\n");
  for (const [key, name] of Object.entries(PROGRAMS)) {
    const program = join(root, name);
    writeFileSync(program, `#!/bin/sh\n: > ${join(root, "started", name)}\nexit 1\n`, { mode: 0o755 });
    git("config", key, program);
  }
  git("config", "remote.origin.url", join(root, "nowhere"));
  git("config", "remote.origin.promisor", "true");
  git("config", "core.repositoryformatversion", "1");
  git("config", "extensions.partialClone", "origin");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const PROGRAMS = {
  "core.fsmonitor": "watcher",
  "filter.theirs.clean": "clean",
  "filter.theirs.process": "process",
  "diff.theirs.textconv": "textconv",
  "diff.external": "diff",
  "remote.origin.uploadpack": "upload-pack",
  "core.sshCommand": "ssh",
};

function giveAway(path: string): void {
  chownSync(path, 4242, 4242);
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) giveAway(join(path, name));
}

describe("another user's repository", () => {
  it.runIf(process.getuid?.() === 0)("is read, and no program that it names is started", async () => {
    const commit = git("-c", "core.fsmonitor=false", "rev-parse", "HEAD");
    giveAway(repo);
    const source = { repo, request: join(root, "task.nut"), output: join(root, "done.nut"), readOnly: false };
    // Newer versions of git refuse to clone it, older ones do.
    const opened = await openRepository(source, join(root, "clone"), world).catch(({ code }) => ({ code }));
    if (!("code" in opened)) expect(opened.warnings.join("\n")).toContain("another user's");
    else expect(opened.code).toBe("RUN_NO_REPOSITORY");
    expect(await repositoryAt(repo, world)).toBe(repo);
    expect(await findCommit(repo, "a".repeat(40), world)).toBeNull();
    expect(await repositoryFacts(repo, world)).toMatchObject({ commit, branch: "main" });
    expect(await submodules(repo, commit, world)).toEqual([]);
    expect(readdirSync(join(root, "started"))).toEqual([]);
  });
});
