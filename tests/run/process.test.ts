import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { treeDigest } from "../../src/acceptance/index.js";
import { bwrapAvailable } from "../../src/process/index.js";
import { here } from "./here.js";
import { call, journalOf, root, runFolderOf, start, stateOf } from "./program.js";
import { helloRequest, put, scratch, sweep } from "./scripted.js";

const held = await bwrapAvailable(process.env);
let cwd: string;
beforeEach(() => {
  cwd = join(scratch(), "project");
  mkdirSync(cwd);
});
afterAll(sweep);

const example = (name: string) => join(root, "examples", name);
/** Any program is an agent: here a shell script that is handed its prompt and says something. */
function agent(script: string): string[] {
  return ["--driver", "command", "--command", `sh -c '${script.replaceAll("'", "'\\''")}'`];
}

describe("the demo", () => {
  it("plans, fails, is diagnosed, repairs, and a stranger can check it", async () => {
    const ran = await here("nexus", cwd, ["run", example("2-feature"), "--driver", "demo", "-o", "out.nut"]);
    expect(ran.stderr).toContain("the architect looked into it");
    expect(ran.status, ran.stderr + ran.stdout).toBe(0);
    expect(ran.stdout).toContain("completed (100 %)");
    // What was overcome is not said as if it were so now, and what a check answered is not called judged.
    expect(ran.stdout).toMatch(/! on the way: AC-002 fails/);
    expect(ran.stdout).toContain("Single and combined units are read proven: criterion AC-001");
    const verified = await here("nutshell", cwd, ["verify", "out.nut", "--request", example("2-feature"), "--rerun"]);
    expect(verified.status, verified.stdout + verified.stderr).toBe(0);
    expect(verified.stdout).toContain("verified: completed");
    const state = stateOf(cwd);
    expect(state.plan?.source).toBe("lead");
    expect([...state.agents.values()].every(({ end }) => end?.reported)).toBe(true);
    expect(readFileSync(join(runFolderOf(cwd), "agents/engineer-2/report.md"), "utf8")).toContain("not a model");
    expect((await here("nexus", cwd, ["runs"])).stdout).toMatch(/delivered \(completed\)\s+3\/3\s+demo/);
    expect(JSON.parse(readFileSync(join(cwd, ".nexus/history.json"), "utf8")).cycles).toHaveLength(1);
  });

  it("lets two writers work side by side and merges both", async () => {
    const ran = await here("nexus", cwd, ["run", example("3-parallel"), "--json", "-o", "out.nut"]);
    expect(ran.status, ran.stderr).toBe(0);
    const lines = ran.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({
      type: "result",
      status: "delivered",
      delivery: { result: { status: "completed" } },
    });
    expect(lines.at(-1).delivery.result.execution_log.strategy_used).toBe("parallel");
    const kinds = lines.map(({ type }) => type);
    for (const kind of ["run_started", "planned", "agent_started", "task_completed", "acceptance_finished"]) {
      expect(kinds).toContain(kind);
    }
    const { agents } = stateOf(cwd);
    const slots = [...agents.values()].filter(({ role }) => role === "engineer").map(({ slot }) => slot);
    expect(new Set(slots).size).toBe(2);
  });
});

describe("before anything is started", () => {
  it("--dry-run shows plan, roles, limits and commands, and leaves nothing", async () => {
    const ran = await here("nexus", cwd, ["run", example("1-bug-fix"), "--dry-run", "--budget", "time=1m"]);
    expect(ran.status).toBe(0);
    expect(ran.stdout).toMatch(/1\s+Fix slugs.*engineer/);
    expect(ran.stdout).toContain("no_file_edit");
    expect(ran.stdout).toContain("enforced: Change only files/src/slug.mjs");
    expect(ran.stdout).toContain("limits: time=1m,agent=1h,stall=10m,loop=12");
    expect(ran.stdout).toContain("demo-agent.cjs");
    expect(existsSync(join(cwd, ".nexus"))).toBe(false);
  });

  it.each([
    ["a request that is not there", ["run", "nowhere.nut"], 2, "no such file"],
    [
      "a program that is not there",
      ["run", example("1-bug-fix"), "--driver", "command", "--command", "no-such-agent"],
      2,
      "no-such-agent",
    ],
    ["a driver without its command", ["run", example("1-bug-fix"), "--driver", "command"], 2, "needs --command"],
    [
      "a budget nobody understands",
      ["run", example("1-bug-fix"), "--budget", "lots"],
      2,
      "--budget does not understand",
    ],
    ["a run that is not there", ["resume", "x"], 2, 'there is no run "x"'],
    ["nothing to resume", ["resume"], 2, "no run is waiting"],
  ] as const)("refuses %s in one sentence and leaves nothing", async (_, args, status, words) => {
    const ran = await here("nexus", cwd, args);
    expect(ran.status).toBe(status);
    expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toContain("bug:");
    expect(existsSync(join(cwd, ".nexus/state"))).toBe(false);
  });

  it("refuses an incomplete request with the answer no, and leaves no run", async () => {
    const request = helloRequest(join(cwd, ".."), { context: { requirements: "context/missing.md" } });
    const ran = await here("nexus", cwd, ["run", request, ...agent("true")]);
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("incomplete");
    expect((await here("nexus", cwd, ["runs"])).stdout).toContain("no runs yet");
  });
});

/** Always the same fractions of a run's length: random to the run, repeatable for us. The long form takes five. */
const KILLED_AT = process.env.NUTCRACKER_LONG === "1" ? [0.17, 0.38, 0.55, 0.72, 0.95] : [0.38, 0.72];

describe("stopped from outside", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s pauses cleanly, and resume finishes", async (signal, status) => {
    const request = helloRequest(join(cwd, ".."));
    const line =
      'if [ "$NEXUS_AGENT_ID" = engineer-1 ]; then sleep 60; fi; [ "$NEXUS_MAY_EDIT" = 0 ] || echo hello world > files/hello.txt; echo "[passed] 1: seen"';
    const child = start(cwd, ["run", request, "--plan", "default", ...agent(line), "-o", "out.nut"]);
    await until(() => existsSync(join(cwd, ".nexus")) && journalOf(cwd).some(({ type }) => type === "agent_session"));
    child.kill(signal);
    const ran = await child.done;
    expect(ran.status).toBe(status);
    expect(ran.stderr).toContain("go on with: nexus resume");
    expect(stateOf(cwd).paused?.reason).toBe("interrupted");
    const resumed = call("nexus", cwd, ["resume"]);
    expect(resumed.stderr).toContain("goes on");
    expect(resumed.status, resumed.stderr + resumed.stdout).toBe(0);
    expect([...stateOf(cwd).agents.keys()]).toEqual(["engineer-1", "engineer-2", "tester-3", "reviewer-4"]);
  });

  it(`kill -9 at ${KILLED_AT.length} points, then resume: the same tree, nothing done twice`, async () => {
    const request = helloRequest(join(cwd, ".."));
    // A failing first try, a diagnosis, a second try and two readers, at a pace that leaves room to be killed in.
    const line = [
      'if [ "$NEXUS_ROLE" = engineer ]; then',
      "  if grep -q '^DIAGNOSIS:'; then echo hello world > files/hello.txt; else echo helo > files/hello.txt; fi",
      "fi",
      "sleep 0.2; echo done; echo '[passed] 1: files/hello.txt says so'",
    ].join("\n");
    const args = ["run", request, "--plan", "default", ...agent(line), "-o", "out.nut"];
    const began = performance.now();
    expect((await start(cwd, args).done).status).toBe(0);
    const length = performance.now() - began;
    const wanted = resultDigest(cwd);
    for (const part of KILLED_AT) {
      const place = join(scratch(), "project");
      mkdirSync(place);
      const child = start(place, args);
      await sleep(length * part);
      child.kill("SIGKILL");
      await child.done;
      const before = runStarted(place) ? stateOf(place) : null;
      const again = call("nexus", place, before === null ? args : ["resume"]);
      if (before?.closed !== true) expect(again.status, `${part}: ${again.stderr}${again.stdout}`).toBe(0);
      expect(resultDigest(place), String(part)).toBe(wanted);
      const merged = journalOf(place).flatMap((event) => (event.type === "merged" ? [event.task] : []));
      expect(merged.sort(), String(part)).toEqual([1, 2, 3]);
      for (const [id, { status }] of before?.tasks ?? []) {
        if (status === "completed") expect(triesOf(stateOf(place), id)).toBe(triesOf(before!, id));
      }
      const check = ["verify", "out.nut", "--request", request, "--allow", "recorded"];
      expect((await here("nutshell", place, check)).status).toBe(0);
    }
  }, 240_000);
});

const resultDigest = (place: string): string =>
  JSON.parse(readFileSync(join(runFolderOf(place), "delivery/delivery/result.json"), "utf8")).digests.result;
const triesOf = (state: ReturnType<typeof stateOf>, id: number) =>
  [...state.agents.values()].filter(({ task }) => task === id).length;
const runStarted = (place: string) =>
  existsSync(join(place, ".nexus/state/nutcracker/runs")) && existsSync(join(runFolderOf(place), "journal.jsonl"));

describe("a malicious agent", () => {
  const CANARY = "canary-4f9d2c71b8e05a36";

  it("cannot write outside its folder, and what it tries elsewhere in it is refused", async () => {
    const request = helloRequest(join(cwd, ".."));
    const outside = join(cwd, "outside.txt");
    const line = `echo x > ${outside}; echo x > context/requirements.md; echo hello world > files/hello.txt; echo done`;
    const ran = await here("nexus", cwd, ["run", request, ...agent(line), "--yes", "-o", "out.nut"]);
    expect(ran.status).toBe(1);
    const { problems } = stateOf(cwd).tasks.get(1)!;
    expect(problems.join()).toContain("context/requirements.md was changed against the constraint");
    expect(existsSync(outside), "written outside although there is a sandbox").toBe(!hasBwrap());
    expect(existsSync(join(runFolderOf(cwd), "delivery/delivery/artifacts/files/hello.txt"))).toBe(false);
  });

  it("gains nothing by editing tests and claiming success", async () => {
    const request = helloRequest(join(cwd, ".."), { harness: {} });
    const line = "echo 'exit 0' > tests/hello.sh; echo 'RESULT: done, all tests pass'";
    const ran = await here("nexus", cwd, ["run", request, ...agent(line), "--yes", "-o", "out.nut"]);
    expect(ran.status).toBe(1);
    expect(ran.stdout).toContain("failed (0 %)");
    expect(ran.stdout).toContain("own tests were changed");
    expect((await here("nutshell", cwd, ["verify", "out.nut", "--request", request, "--rerun"])).stdout).not.toContain(
      "verified: completed",
    );
  });

  it("leaks no credential: not into files, logs, prompts or the delivery", () => {
    const request = helloRequest(join(cwd, ".."), {
      credentials: {
        vault: "credentials/vault.enc.json",
        encryption: "none",
        scopes: [{ name: "api", type: "bearer_token" }],
      },
    });
    put(request, {
      "credentials/vault.enc.json": JSON.stringify({
        vault_version: "0.2.0",
        credentials: [
          { name: "api", type: "bearer_token", value: { token: CANARY }, expires_at: "2999-01-01T00:00:00Z" },
        ],
      }),
    });
    // It finds the value in its environment, prints it, and writes it into a file.
    const line = `v=$(env | grep canary | head -1 | cut -d= -f2); echo "token $v"; echo "hello world $v" > files/hello.txt; env | grep -c canary`;
    const ran = call("nexus", cwd, ["run", request, ...agent(line), "--yes", "-o", "out.nut"]);
    expect(stateOf(cwd).tasks.get(1)?.problems.join()).toContain("files/hello.txt holds a credential's value");
    expect(stateOf(cwd).credentials.map(({ name }) => name)).toContain("api");
    expect(ran.stdout + ran.stderr).not.toContain(CANARY);
    const places = filesHolding(cwd, CANARY).filter(
      (path) => !path.includes("/request/credentials/") && !path.includes("/work/credentials/"),
    );
    expect(places).toEqual([]);
    expect(readFileSync(join(runFolderOf(cwd), "agents/engineer-1/report.md"), "utf8")).toContain("[redacted:api]");
  });

  it("cannot hang the run or leave children behind", async () => {
    const request = helloRequest(join(cwd, ".."));
    const mark = `nut-left-${process.pid}-${Date.now()}`;
    const bash = `exec bash -c '(setsid bash -c "exec -a ${mark} sleep 300" &); bash -c "exec -a ${mark} sleep 300" & while :; do sleep 0.2; done'`;
    const ran = call("nexus", cwd, ["run", request, ...agent(bash), "--budget", "agent=1500ms", "-o", "out.nut"]);
    expect(ran.status).toBe(1);
    expect(ran.stdout).toContain("paused");
    expect(ran.stdout).toContain("--budget agent=3s");
    await sleep(300);
    expect(output("pgrep", ["-f", mark]).trim()).toBe("");
  });

  it("is not believed when it moves the task list itself", async () => {
    const request = helloRequest(join(cwd, ".."));
    const nexus = `${process.execPath} ${join(root, "bin/nexus.js")}`;
    const line = `${nexus} call task_update '{"id":2,"status":"completed"}' >/dev/null; NEXUS_ROLE= ${nexus} call task_update '{"id":3,"status":"completed"}' >/dev/null; [ "$NEXUS_MAY_EDIT" = 0 ] || echo hello world > files/hello.txt; echo done`;
    await here("nexus", cwd, ["run", request, ...agent(line), "--yes", "-o", "out.nut"]);
    const state = stateOf(cwd);
    expect([...state.agents.values()].map(({ task }) => task)).toEqual([1, 2, 3]);
    // In a sandbox it cannot even try: the run's state is there to read.
    const moved = state.issues.filter(({ message }) => /moved task/.test(message));
    expect(moved.length > 0).toBe(!held);
  });
});

describe("a repository", () => {
  it("is cloned: the person's checkout, refs and configuration stay as they are", async () => {
    const repo = join(cwd, "..", "repo");
    put(repo, { "files/hello.txt": "nothing\n", "README.md": "mine\n" });
    const git = (...args: string[]) => output("git", ["-C", repo, ...args]);
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "start");
    writeFileSync(join(repo, "README.md"), "edited and not committed\n");
    const before = treeDigest(repo, () => true);
    const request = helloRequest(join(cwd, ".."));
    const line =
      "echo hello world > files/hello.txt; git config core.pager evil 2>/dev/null; git config --unset core.pager; echo '[passed] 1: seen'";
    const ran = await here("nexus", cwd, [
      "run",
      request,
      "--repo",
      repo,
      "--plan",
      plan(cwd),
      ...agent(line),
      "-o",
      "out.nut",
    ]);
    expect(ran.stderr).toContain("uncommitted changes");
    expect(ran.status, ran.stderr + ran.stdout).toBe(0);
    expect(treeDigest(repo, () => true)).toBe(before);
    // Its trees go with the delivery.
    const kept = ["agents", "delivery", "journal.jsonl", "lock", "logs", "request", "run.json"];
    expect(readdirSync(runFolderOf(cwd)).filter((name) => !name.startsWith("."))).toEqual(kept);

    // A stranger with the request and the commit the work began at runs the acceptance again.
    const base = join(cwd, "..", "base");
    output("git", ["clone", "-q", repo, base]);
    const again = await here("nutshell", cwd, [
      "verify",
      "out.nut",
      "--request",
      request,
      "--base",
      base,
      "--rerun",
      "--json",
    ]);
    expect(again.status, again.stderr + again.stdout).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({
      verified: true,
      rerun: { verdict: "passed", compared: true, counts: { failed: 0 } },
    });
  });

  it("fails an agent that plants a hook", async () => {
    const repo = join(cwd, "..", "repo2");
    put(repo, { "files/hello.txt": "nothing\n" });
    output("git", ["-C", repo, "init", "-q"]);
    output("git", ["-C", repo, "add", "."]);
    output("git", ["-C", repo, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "start"]);
    const request = helloRequest(join(cwd, ".."));
    const line =
      "mkdir -p .git/hooks; echo hello world > files/hello.txt; echo evil > .git/hooks/post-checkout; echo done";
    const ran = await here("nexus", cwd, [
      "run",
      request,
      "--repo",
      repo,
      "--plan",
      plan(cwd),
      "--yes",
      ...agent(line),
      "-o",
      "out.nut",
    ]);
    expect(ran.status).toBe(1);
    expect(stateOf(cwd).tasks.get(1)?.problems).toContain("git's configuration or hooks were changed");
  });
});

function plan(folder: string): string {
  const path = join(folder, "one.json");
  writeFileSync(path, JSON.stringify({ tasks: [{ title: "greet" }] }));
  return path;
}

async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 600; i += 1) {
    try {
      if (holds()) return;
    } catch {
      // Not there yet.
    }
    await sleep(50);
  }
  throw new Error("it did not happen within 30 s");
}

const output = (program: string, args: readonly string[]) => spawnSync(program, args, { encoding: "utf8" }).stdout;
const hasBwrap = () => spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0;
const filesHolding = (folder: string, text: string) =>
  output("grep", ["-rlaF", text, folder])
    .split("\n")
    .filter((line) => line !== "");
