// Work in a repository on its way home, with a wrong turn at every step: each gets a sentence that leads on, nothing is half
// applied, and in the end it is verified.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serveViewer } from "../../src/web/view/viewer.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { ask, enter, keyOf } from "../web/asking.js";
import { put } from "./room.js";

let folder: string;
let repo: string;
const git = (...args: string[]) => {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
  const { status, stdout, stderr } = spawnSync("git", ["-C", repo, ...identity, ...args], { encoding: "utf8" });
  expect(status, `${args.join(" ")}: ${stderr}`).toBe(0);
  return stdout.trim();
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-repository-"));
  repo = join(folder, "repo");
  mkdirSync(join(folder, "tmp"));
  put(join(folder, "task"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: "nut-11111111-1111-4111-8111-111111111111",
      created_at: "2026-03-14T10:00:00Z",
      task: { title: "Greet", summary: "say hello" },
      context: { requirements: "context/requirements.md" },
      acceptance: { criteria_file: "tests/criteria.json" },
    }),
    "context/requirements.md": "say hello\n",
    "tests/criteria.json": JSON.stringify({ criteria: [{ id: "AC-1", type: "shell", script: "tests/greets.sh" }] }),
    "tests/greets.sh": "grep -q hello files/greeting.txt\n",
    "files/greeting.txt": "nothing\n",
  });
  put(repo, { "files/greeting.txt": "good day\n" });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "start");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function type(line: string, cwd = folder) {
  const env = { HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), NUTCRACKER_CONSENT: "all" };
  const run = await runNutshell(line.split(" "), { cwd, env });
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  return run;
}
const works = async (line: string, cwd?: string) => {
  const run = await type(line, cwd);
  expect(run, `${line}\n${run.err}`).toMatchObject({ code: 0 });
  return run.out;
};
const state = () => [git("status", "--porcelain"), git("for-each-ref"), git("rev-parse", "HEAD")];
const refused = async (line: string, why: string | RegExp, cwd?: string) => {
  const before = state();
  const { code, out, err } = await type(line, cwd);
  expect(`${out}${err}`).toMatch(why);
  expect([1, 2]).toContain(code);
  expect(state()).toEqual(before);
};
const VERIFY = "verify ../done.nut -r ../task --rerun --trials 1";

describe("work in a repository", () => {
  it("comes home, and every wrong turn says how to go on", async () => {
    await refused("finish repo -r task -o done.nut -m x --base nowhere", "commit nowhere is not in");
    await refused("finish repo -r task -o done.nut -m x --base main --at files", "--at is for a copy");
    put(repo, { "files/greeting.txt": "hello\n" });
    const finished = await works("finish repo -r task -o done.nut -m greets --trials 1");
    expect(finished).toMatch(/compared with commit [0-9a-f]{12} of/);
    const commit = git("rev-parse", "HEAD");
    git("checkout", "-q", "--", ".");

    await refused("verify done.nut -r task --rerun", /which is not in a repository here[\s\S]*--base base/);
    await refused("verify done.nut -r task --rerun --base task", "the base is not the tree of commit");
    git("checkout", "-q", "--orphan", "other");
    git("commit", "-qm", "another history");
    const elsewhere = await type(VERIFY, repo);
    expect(elsewhere.out).toContain("which is not in the history of what is checked out here");
    git("checkout", "-q", "main");
    expect(await works(VERIFY, repo)).toContain("verified: completed");

    writeFileSync(join(repo, "files/greeting.txt"), "mine\n");
    await refused("apply done.nut --repo repo", "uncommitted");
    git("checkout", "-q", "--", ".");
    await refused("apply done.nut --repo repo --branch greet", "git does not know who you are");
    git("config", "user.name", "Ada");
    git("config", "user.email", "ada@example.org");
    await refused("apply done.nut --repo repo --branch main", "there is a branch main already");
    await refused("apply done.nut --repo task", /repository/);
    const looked = /look at it: git -C (\S+) (log -p -1 greet)/.exec(
      await works("apply done.nut --repo repo --branch greet"),
    )!;
    expect([looked[1], git(...looked[2]!.split(" "))]).toEqual([repo, expect.stringContaining("+hello")]);
    await refused("apply done.nut --repo repo --branch greet", "there is a branch greet already");
    expect(git("show", "greet:files/greeting.txt")).toBe("hello");
    expect(git("rev-parse", "greet^")).toBe(commit);
    git("merge", "-q", "--ff-only", "greet");
    expect(await works(VERIFY, repo)).toContain("verified: completed");
  }, 120_000);

  it("says of a patch whether it is the artifacts', and that it was not looked at where nobody can", async () => {
    put(repo, { "files/greeting.txt": "hello\n" });
    await works("finish repo -r task -o done.nut -m greets --trials 1");
    git("checkout", "-q", "--", ".");
    await works("unpack done.nut -o done");
    const findings = async (line: string, cwd?: string) =>
      JSON.parse((await type(`${line} --json`, cwd)).out).findings.map(({ code }: { code: string }) => code);
    mkdirSync(join(folder, "copy"));
    put(join(folder, "copy"), { "files/greeting.txt": "good day\n" });
    expect(await findings("verify done.nut -r task --base copy")).toContain("PATCH_UNCHECKED");
    expect(await findings("verify ../done.nut -r ../task", repo)).not.toContain("PATCH_UNCHECKED");
    const patch = join(folder, "done/delivery/changes.patch");
    writeFileSync(patch, readFileSync(patch, "utf8").replace("+hello", "+evil!"));
    expect(await findings("verify ../done -r ../task", repo)).toContain("PATCH_DIFFERS");
  }, 60_000);

  it("is shown with the lines it replaced, when the commit is here", async () => {
    put(repo, { "files/greeting.txt": "hello\n", "files/old.txt": "old\n" });
    git("add", ".");
    git("commit", "-qm", "two");
    put(repo, { "files/greeting.txt": "hello, all\n" });
    rmSync(join(repo, "files/old.txt"));
    expect((await type("finish repo -r task -o done.nut -m greets --no-accept")).out).toContain("done.nut");
    const stop = new AbortController();
    const served = await serveViewer({
      sources: [join(folder, "task"), join(folder, "done.nut")],
      cwd: repo,
      env: process.env,
      port: 0,
      signal: stop.signal,
      now: () => new Date(),
      command: "nutshell serve",
      onLink: () => {},
      onError: () => {},
    });
    try {
      const headers = keyOf(await enter(served.port, served.gate.link));
      const get = async (path: string) => JSON.parse((await ask(served.port, path, { headers })).body);
      const { files } = await get("/api/compare");
      expect(files.map(({ path, change, before }: Record<string, string>) => [path, change, before])).toEqual([
        ["files/greeting.txt", "changed", "/base/files/greeting.txt"],
        ["files/old.txt", "removed", "/base/files/old.txt"],
      ]);
      const [{ before, after }] = files;
      const { lines } = await get(`/api/diff?before=${encodeURIComponent(before)}&after=${encodeURIComponent(after)}`);
      expect(lines).toMatchObject([{ left: "hello", right: "hello, all", kind: "changed" }]);
      const lost = await get("/api/diff?before=%2Fbase%2F..%2Fsecret&after=");
      expect(lost).toEqual({ lines: [], note: "the repository does not have it any more" });
    } finally {
      stop.abort();
      await served.closed;
    }
  }, 60_000);
});
