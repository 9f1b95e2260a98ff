// What git keeps elsewhere, submodules and files of LFS, on the way into a delivery and out of it: it is said.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packFolder } from "../../src/bundle/index.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { put } from "./room.js";

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "nut-elsewhere-"));
  mkdirSync(join(folder, "tmp"));
  put(join(folder, "request"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: "nut-11111111-1111-4111-8111-111111111111",
      task: { title: "Greet", summary: "say hello" },
      acceptance: { test_scripts: ["tests/greets.sh"] },
    }),
    "tests/greets.sh": "grep -q hello files/greeting.txt\n",
    "files/greeting.txt": "nothing\n",
  });
  await packFolder(join(folder, "request"), { output: join(folder, "request.nut") });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const nutshell = async (...argv: string[]) => {
  const env = { HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), NUTCRACKER_CONSENT: "all" };
  const run = await runNutshell(argv, { cwd: folder, env });
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  return run;
};

describe("what git keeps elsewhere", () => {
  it("says what a commit cannot hold: work in a submodule, and files that Git LFS keeps elsewhere", async () => {
    const repo = join(folder, "repo");
    const sh = (script: string) => {
      const env = { PATH: process.env.PATH, HOME: join(folder, "home"), GIT_CONFIG_GLOBAL: join(folder, "gitconfig") };
      const { status, stdout, stderr } = spawnSync("sh", ["-ec", script], { cwd: folder, env, encoding: "utf8" });
      expect(status, stderr).toBe(0);
      return stdout;
    };
    // Stands for git-lfs: what goes in becomes a pointer, what is none comes out as it is.
    put(folder, {
      gitconfig: `[user]\nname=Ada\nemail=ada@example.org\n[protocol "file"]\nallow=always\n[filter "lfs"]\nclean=sh ${folder}/clean.sh\nsmudge=cat\n`,
      "clean.sh":
        'text=$(cat); case "$text" in version*) echo "$text";; *) printf "version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize 3\\n" "$(echo "$text" | sha256sum | cut -c-64)";; esac\n',
      "lib/lib.txt": "lib\n",
    });
    put(repo, { "src/a.txt": "a\n", "src/b.txt": "b\n", "files/greeting.txt": "nothing\n", "x.bin": "one" });
    put(repo, { ".gitattributes": "*.bin filter=lfs -text\n" });
    sh("git init -q lib && git -C lib add . && git -C lib commit -qm lib");
    sh("cd repo && git init -q -b main && git submodule --quiet add ../lib lib && git add . && git commit -qm start");
    put(repo, { "files/greeting.txt": "hello\n", "x.bin": "two", "lib/lib.txt": "changed\n" });
    const made = await runNutshell(
      ["finish", "repo", "-r", "request.nut", "-o", "done.nut", "-m", "said hello", "--by", "Ada", "--json"],
      {
        cwd: folder,
        env: { HOME: join(folder, "home"), NUTCRACKER_CONSENT: "all", GIT_CONFIG_GLOBAL: join(folder, "gitconfig") },
      },
    );
    expect(JSON.parse(made.out || "{}"), made.err).toMatchObject({
      files: [{ path: "files/greeting.txt" }, { path: "x.bin" }],
      left_out: [{ path: "lib", why: "a submodule: work in it is delivered from its own repository" }],
    });
    sh("cd repo && git checkout -q -- files x.bin && git -C lib checkout -q -- .");
    sh("cd repo && git config user.name Ada && git config user.email ada@example.org");
    const applied = await nutshell("apply", "done.nut", "--repo", "repo", "--branch", "home");
    expect(applied.code, applied.err).toBe(0);
    expect(applied.err).toContain(
      "kept by Git LFS in this repository, and brought in as themselves: x.bin; once they are checked out, git add --renormalize x.bin makes pointers of them",
    );
    // The line works when pasted.
    sh("cd repo && git checkout -q home && git add --renormalize x.bin");
    expect(sh("cd repo && git cat-file -p :x.bin")).toContain("version https://git-lfs.github.com/spec/v1");
  }, 90_000);
});
