// `nexus run --repo --apply-to-branch`: completed work is a branch afterwards; anything less, or a wrong word, leaves the repository alone.
import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { type PassThrough, Readable, Writable } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import { program } from "../../src/commands/nexus/program.js";
import { toBranch } from "../../src/commands/nexus/run/apply-branch.js";
import type { Progress } from "../../src/operation.js";
import { helloRequest, put, scratch, sweep } from "./scripted.js";

let root: string;
let repo: string;
const git = (...args: string[]) => {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
  return spawnSync("git", ["-C", repo, ...identity, ...args], { encoding: "utf8" }).stdout.trim();
};
beforeEach(() => {
  root = scratch();
  repo = join(root, "repo");
  helloRequest(root, { acceptance: { criteria_file: "tests/criteria.json" } });
  put(root, { "plan.json": JSON.stringify({ goal: "x", tasks: [{ title: "Say hello", owner: "engineer" }] }) });
  put(repo, { "files/hello.txt": "nothing\n", "README.md": "mine\n" });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "start");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.org");
});
afterEach(sweep);

function run(...more: string[]) {
  const agent = [
    "--driver",
    "command",
    "--command",
    "echo hello world > files/hello.txt; echo done",
    "--plan",
    "plan.json",
  ];
  return type("run", "request", "--trials", "1", ...agent, ...more);
}

async function type(...argv: string[]) {
  let text = "";
  const sink = () =>
    new Writable({
      write(chunk, _encoding, done) {
        text += chunk;
        done();
      },
    });
  const code = await main(program, argv, {
    cwd: root,
    env: {
      PATH: `${join(root, "bin")}:${process.env.PATH}`,
      HOME: join(root, "home"),
      GIT_CONFIG_GLOBAL: "/dev/null",
      CODEX_API_KEY: "none",
    },
    now: () => new Date(),
    signal: new AbortController().signal,
    stdin: () => Readable.from([]) as PassThrough,
    stdout: sink(),
    stderr: sink(),
    ask: null,
  });
  return { code, text };
}

it("makes the branch of completed work, and refuses what cannot become one before an agent is started", async () => {
  const lost = await run("--apply-to-branch", "fix");
  expect(lost).toMatchObject({ code: 2, text: expect.stringContaining("--apply-to-branch needs --repo") });
  const taken = await run("--repo", "repo", "--apply-to-branch", "main");
  expect(taken).toMatchObject({ code: 2, text: expect.stringContaining("there is a branch main already") });
  expect(taken.text).not.toContain("works on task");
  const head = git("rev-parse", "HEAD");
  const done = await run("--repo", "repo", "--apply-to-branch", "fix/hello");
  expect(done.code, done.text).toBe(0);
  expect(done.text).toContain("it is on branch fix/hello");
  expect(git("show", "fix/hello:files/hello.txt")).toBe("hello world");
  expect([git("rev-parse", "fix/hello^"), git("rev-parse", "HEAD"), git("status", "--porcelain")]).toEqual([
    head,
    head,
    "",
  ]);
}, 60_000);

it("leaves work that is less than completed in its delivery", async () => {
  const told: Progress[] = [];
  const result = {
    type: "result",
    run: "r",
    status: "delivered",
    delivery: { path: "/x", result: { status: "partial" } },
  };
  const context = { progress: (event: Progress) => told.push(event) };
  expect(await toBranch(result as never, { repo, apply_to_branch: "fix" }, context as never)).toBe(result);
  expect(told).toMatchObject([{ message: "not on branch fix: the work is partial" }]);
  expect(git("branch", "--list", "fix")).toBe("");
});

it("is refused for a repository that is not there, and a hint repeats what was typed", async () => {
  const nowhere = await run("--repo", "no where");
  expect(nowhere).toMatchObject({
    code: 2,
    text: expect.stringContaining(`--repo ${join(root, "no where")}: no such`),
  });
  put(root, { "bin/codex": "#!/bin/sh\necho codex-cli 99.0.0\n" });
  chmodSync(join(root, "bin/codex"), 0o755);
  const { code, text } = await type("run", "request", "--repo", "my repo/../repo", "--trials", "1");
  expect(code).toBe(2);
  expect(text).toContain("hint: nexus run request --repo 'my repo/../repo' --trials 1 --driver codex\n");
});
