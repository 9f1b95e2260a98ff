import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "./installed.js";

let work: string;
let repository: string;

beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "nutcracker-hook-"));
  repository = join(work, "repository");
  mkdirSync(join(work, "bin"));
  writeFileSync(join(work, "bin/nutshell"), `#!/bin/sh\nexec node '${join(root, "bin/nutshell.js")}' "$@"\n`);
  chmodSync(join(work, "bin/nutshell"), 0o755);
  cpSync(join(root, "examples/1-bug-fix"), join(repository, "tasks/a task"), { recursive: true });
  git("init", "-q");
  copyFileSync(join(root, "examples/pre-commit"), join(repository, ".git/hooks/pre-commit"));
  chmodSync(join(repository, ".git/hooks/pre-commit"), 0o755);
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

function git(...args: string[]) {
  const own = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
  return spawnSync("git", [...own, ...args], {
    cwd: repository,
    encoding: "utf8",
    env: {
      PATH: [join(work, "bin"), dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: work,
      GIT_CONFIG_NOSYSTEM: "1",
    },
  });
}

describe("the pre-commit hook", () => {
  it("lets a valid task pass, and judges what is staged, not what lies there", () => {
    git("add", "-A");
    writeFileSync(join(repository, "tasks/a task/nutshell.json"), "not staged");
    const { status, stderr } = git("commit", "-qm", "a task");
    expect(status, stderr).toBe(0);
  });

  it("stops a commit that would leave an invalid task, and says why", () => {
    writeFileSync(join(repository, "tasks/a task/nutshell.json"), "{");
    git("add", "-A");
    const { status, stderr } = git("commit", "-qm", "a task");
    expect(status).toBe(1);
    expect(stderr).toContain("pre-commit: tasks/a task is not valid:");
  });

  it("has nothing to say about anything else", () => {
    git("add", "-A");
    git("commit", "-qm", "a task");
    writeFileSync(join(repository, "readme"), "");
    git("add", "-A");
    expect(git("commit", "-qm", "readme").status).toBe(0);
  });
});
