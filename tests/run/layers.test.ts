// Work in a repository where a sandbox holds the agents: one clone, and a layer of changes over it for everybody.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { treeDigest } from "../../src/acceptance/index.js";
import { bwrapAvailable, canLayer, KNOWN_VERSIONS } from "../../src/process/index.js";
import { desk } from "../drivers/desk.js";
import { here } from "./here.js";
import { call, journalOf, runFolderOf, stateOf } from "./program.js";
import { helloRequest, put, scratch, sweep } from "./scripted.js";

const held = (await bwrapAvailable(process.env)) && canLayer(scratch());
afterAll(sweep);

let cwd: string;
let repo: string;
let request: string;
beforeEach(() => {
  const root = scratch();
  cwd = join(root, "project");
  repo = join(root, "repo");
  mkdirSync(cwd);
  request = helloRequest(root, { harness: {} });
  put(repo, { "files/hello.txt": "nothing\n", "README.md": "mine\n", "src/a.js": "a\n", "src/deep/b.js": "b\n" });
  const git = (...args: string[]) => execFileSync("git", ["-C", repo, ...args], { stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "start");
});

/** Each task's agent runs the script of that name in `steps`. */
function run(steps: Readonly<Record<string, string>>, tasks: readonly object[], ...more: string[]) {
  const cases = Object.entries(steps).map(([task, script]) => `${task}) ${script};;`);
  const line = `case $NEXUS_TASK_ID in ${cases.join(" ")} esac; echo '[passed] 1: seen'`;
  writeFileSync(join(cwd, "plan.json"), JSON.stringify({ tasks }));
  const agent = ["--driver", "command", "--command", `sh -c '${line.replaceAll("'", "'\\''")}'`];
  return call("nexus", cwd, [
    "run",
    request,
    "--repo",
    repo,
    "--plan",
    "plan.json",
    ...agent,
    "-o",
    "out.nut",
    ...more,
  ]);
}

const said = (agent: string) => readFileSync(join(runFolderOf(cwd), "agents", agent, "report.md"), "utf8");
const result = () => JSON.parse(readFileSync(join(runFolderOf(cwd), "delivery/delivery/result.json"), "utf8"));
/** How many names an object of the repository has. */
const namesIn = (tree: string) => `find ${tree}/.git/objects -type f -size +0 | head -1 | xargs stat -c 'names %h'`;

describe.skipIf(!held)("work in a repository (needs bwrap and overlays)", () => {
  it("is a layer: tasks see what was merged before, and only what differs in the end is delivered", async () => {
    const before = treeDigest(repo, () => true);
    const steps = {
      1: `rm -r src README.md; mkdir src; echo new > src/new.js; echo hello world > files/hello.txt; ${namesIn(".")}`,
      2: "ls -R src; test -e README.md || echo NO README; printf 'mine\\n' > README.md; git status --short",
      3: "echo stolen > files/hello.txt || echo READ-ONLY; ls src; cat README.md",
    };
    const ran = run(steps, [
      { title: "greet", criteria: "all" },
      { title: "bring it back", deps: [1] },
      { title: "check", owner: "tester", deps: [2] },
    ]);
    expect(ran.status, ran.stderr + ran.stdout).toBe(0);
    expect(said("engineer-1")).toContain("names 2");
    expect(said("engineer-2")).toContain("NO README");
    expect(said("engineer-2")).toMatch(/src:\nnew\.js\n/);
    // Its git agrees with it, over an index that was never read anew.
    expect(said("engineer-2")).toMatch(/ D src\/a\.js\n D src\/deep\/b\.js\n\?\? src\/new\.js/);
    expect(said("tester-3")).toContain("READ-ONLY");
    expect(said("tester-3")).toContain("new.js\nmine");
    // README.md went and came back as it was: nobody changed it.
    expect(result().artifacts).toMatchObject({
      files_created: [{ path: "delivery/artifacts/src/new.js" }],
      files_modified: [{ path: "delivery/artifacts/files/hello.txt" }],
      files_deleted: [{ path: "src/a.js" }, { path: "src/deep/b.js" }],
    });
    expect(stateOf(cwd).issues).toEqual([]);
    expect(treeDigest(repo, () => true)).toBe(before);
    expect(readdirSync(runFolderOf(cwd)).filter((name) => ["repository", "slots", "work"].includes(name))).toEqual([]);
    const verified = await here("nutshell", cwd, [
      "verify",
      "out.nut",
      "--request",
      request,
      "--base",
      repo,
      "--rerun",
    ]);
    expect(verified.stdout, verified.stderr).toContain("verified: completed");
  });

  it("holds no second checkout while it goes on", () => {
    const line = "echo half > half.txt; ls ../..; sleep 60";
    const ran = run({ 1: line }, [{ title: "greet" }], "--budget", "agent=1500ms");
    expect(ran.stdout).toContain("paused");
    const folder = runFolderOf(cwd);
    expect(readdirSync(join(folder, "slots"))).toEqual(["slot-1", "slot-1.merged", "slot-1.work"]);
    expect(readdirSync(join(folder, "slots/slot-1"))).toEqual(["half.txt"]);
    expect(readdirSync(join(folder, "slots/slot-1.merged"))).toEqual([]);
    expect(readdirSync(join(folder, "work"))).toEqual([]);
    expect(readFileSync(join(folder, "repository/README.md"), "utf8")).toBe("mine\n");
  });

  it("is copied, objects and all, for an agent that nothing holds", () => {
    const ran = run(
      { 1: `echo hello world > files/hello.txt; ${namesIn("../../repository")}` },
      [{ title: "greet" }],
      "--no-sandbox",
      "--yes",
    );
    expect(ran.status, ran.stderr + ran.stdout).toBe(0);
    expect(said("engineer-1")).toContain("names 1");
    expect(journalOf(cwd).some(({ type }) => type === "delivered")).toBe(true);
  });
});

describe.skipIf(!held)("a session over a base (needs bwrap and overlays)", () => {
  it("shows the tree as one, hides what its program would obey, and lets no reader write", async () => {
    const at = desk();
    try {
      const over = join(at.folder, "base");
      at.put({ "base/a.txt": "below\n", "base/.claude/settings.json": "{}", "base/sub/b.txt": "b\n" });
      const version = `[ "$1" != --version ] || { echo "${KNOWN_VERSIONS.claude.tried} (Claude Code)"; exit; }`;
      const look = "{ cat a.txt sub/b.txt; ls -A .claude; echo x > made && echo made; } > $HOME/seen 2>&1";
      at.install("claude", `#!/bin/sh\n${version}\n${look}\n`);
      for (const edit of [true, false]) {
        const end = await at.run("claude", { over, may: { edit, shell: true } });
        expect(existsSync(join(at.home, "seen")), JSON.stringify(end)).toBe(true);
        const seen = readFileSync(join(at.home, "seen"), "utf8");
        expect(seen).toMatch(edit ? /^below\nb\nmade\n$/ : /^below\nb\n.*Read-only file system\n$/);
      }
      expect(existsSync(join(over, "made"))).toBe(false);
      await expect(at.run("command", { over, command: "true", sandbox: "off" })).rejects.toMatchObject({
        code: "SANDBOX_MISSING",
      });
      expect(spawnSync("grep", ["-c", at.folder, "/proc/mounts"], { encoding: "utf8" }).stdout.trim()).toBe("0");
    } finally {
      at.remove();
    }
  });
});
