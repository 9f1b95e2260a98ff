// What the board does for a person, against the real programs: each thing with the guards of the command line.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import judge from "../../src/commands/nutshell/acceptance/judge.js";
import type { Context } from "../../src/operation.js";
import { bwrapAvailable } from "../../src/process/index.js";
import { createRun, runFolder, runIds, runsFolder } from "../../src/run/record/folder.js";
import { Journal } from "../../src/run/record/journal.js";
import { RunReader } from "../../src/run/record/run-reader.js";
import { act, BoardAction } from "../../src/web/board/act.js";
import { type Acted, type Action, type Agreement, commandOf, lineOf } from "../../src/web/board/actions.js";
import { RunFollower } from "../../src/web/board/run-rows.js";
import { waitingIn } from "../../src/web/board/waiting.js";
import { remarksText } from "../../src/web/page/diff/remarks-text.js";
import { here } from "../run/here.js";
import { root as source } from "../run/program.js";
import { temporary, write } from "./folders.js";
import { project } from "./projects.js";

const held = await bwrapAvailable(process.env);
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0).reverse()) stop();
});

interface Place {
  readonly root: string;
  readonly env: Record<string, string>;
  readonly act: (action: Action, agreed?: Agreement | null) => Promise<Acted>;
}

function place(): Place {
  const { path, remove } = temporary();
  stops.push(remove);
  const root = join(path, "shop");
  mkdirSync(root);
  const env = { PATH: process.env.PATH ?? "", HOME: path };
  const none = () => {
    throw new Error("no streams");
  };
  const context: Context = {
    ...{ cwd: root, env: {}, now: () => new Date(), signal: new AbortController().signal, progress: () => {} },
    ...{ ask: null, stdin: none, stdout: none },
  };
  const judging = (asked: object, own: Context) => judge.run(judge.input.parse(asked), own);
  return { root, env, act: (action, agreed = null) => act(action, { context, env, agreed, judge: judging }) };
}

const statusOf = (root: string, id: string) => new RunReader(runsFolder(root), id).read();
async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries += 1) {
    if (tries > 600) throw new Error("it did not come to that");
    await sleep(50);
  }
}

/** A run that stands at a question, made by nobody here. */
function strangersRun(root: string): string {
  write(root, project({ tasks: 1, agents: 0 }));
  return "20260101-000000-aaaa";
}

describe("the command of every action", () => {
  const start = { request: "a b.nut", driver: "", budget: "", answer: "", reviewPlan: false, allowInstall: false };
  it.each<[Action, string]>([
    [{ action: "start", ...start }, "nexus run 'a b.nut'"],
    [
      { action: "start", ...start, request: "-x", driver: "demo", answer: "it's $(id)", reviewPlan: true },
      "nexus run ./-x --driver=demo --answer='it'\\''s $(id)' --review-plan",
    ],
    [{ action: "pause", run: "r" }, "nexus pause r"],
    [{ action: "cancel", run: "r" }, "nexus cancel r"],
    [{ action: "resume", run: "r", budget: "time=20m" }, "nexus resume r --budget=time=20m"],
    [{ action: "answer", run: "r", task: 2, text: "-n; rm -rf /" }, "nexus resume r --task=2 --answer='-n; rm -rf /'"],
    [{ action: "retry", run: "r", task: 2 }, "nexus resume r --task=2 --retry"],
    [{ action: "skip", run: "r", task: 2 }, "nexus resume r --task=2 --skip"],
    [{ action: "deliver", run: "r" }, "nexus resume r --deliver"],
    [{ action: "approve", run: "r", plan: "" }, "nexus resume r"],
    [{ action: "approve", run: "r", plan: "{}" }, "nexus resume r --plan=plan.json"],
    [{ action: "decide", issue: 3, decision: "--yes" }, "nexus plan decide 3 -- --yes"],
    [
      { action: "judge", run: "r", item: "polite", status: "failed", by: "Ada", why: "I read it" },
      "nutshell judge done.nut --request=task.nut --item=polite --status=failed --by=Ada --why='I read it'",
    ],
  ])("%j", (action, line) => {
    expect(lineOf(commandOf(action, { request: "task.nut", delivery: "done.nut" }))).toBe(line);
    expect(BoardAction.safeParse(action).success).toBe(true);
  });

  it("names what was agreed to", () => {
    const agreed = { agree: "sha256:00", install: true };
    expect(lineOf(["nexus", "run", "x"], agreed)).toBe("NUTCRACKER_CONSENT=sha256:00 nexus run x --allow-install");
  });
});

describe("a run that somebody else brought", () => {
  it("is asked about in the terminal's words, and goes on only after a yes, which is kept", async () => {
    const { root, env, act } = place();
    const run = strangersRun(root);
    const { journal } = runFolder(runsFolder(root), run, false);
    const before = readFileSync(journal, "utf8");
    const answer: Action = { action: "answer", run, task: 2, text: "use the other port" };
    const asked = await act(answer);
    expect(asked).toMatchObject({ done: false, consent: { agree: expect.stringMatching(/^run:[0-9a-f]{64}$/) } });
    if (asked.done || asked.consent === null) throw new Error("unreachable");
    expect(asked.consent.question).toMatch(
      /was not started by you here: Wish list\n {2}starts: demo[\s\S]*Go on with it\?/,
    );
    expect(readFileSync(journal, "utf8")).toBe(before);
    // The request it names is not there, so it cannot go on: but it was let past the question.
    const agreed = await act(answer, asked.consent);
    expect(agreed).toMatchObject({ done: false, consent: null });
    expect(JSON.stringify(agreed)).toMatch(/wish-list\.nut/);
    expect((await here("nexus", root, ["resume", run], env)).stderr).not.toContain("was not started by you");
  });

  it("can be cancelled, is not asked about any more, and is not taken up by itself", async () => {
    const { root, env, act } = place();
    const run = strangersRun(root);
    expect(waitingIn({ runs: new RunFollower(root).rows(), plan: null }).questions).toHaveLength(1);
    expect(await act({ action: "cancel", run })).toEqual({ done: true, message: `run ${run} is cancelled` });
    expect(statusOf(root, run)).toMatchObject({ status: "cancelled", detail: "a person cancelled the run" });
    const [row] = new RunFollower(root).rows();
    expect(row!.verdict).toMatchObject({ word: "cancelled", next: { command: `nexus resume ${run}` } });
    expect(waitingIn({ runs: [row!], plan: null }).questions).toEqual([]);
    expect((await here("nexus", root, ["runs"], env)).stdout).toMatch(/cancelled/);
    expect((await here("nexus", root, ["resume"], env)).stderr).toContain("no run is waiting to go on here");
    expect(await act({ action: "pause", run })).toMatchObject({
      done: false,
      message: `nobody works on run ${run}: it is cancelled`,
    });
  });
});

describe("what cannot be done", () => {
  it.each<[string[], string]>([
    [["resume", "--task", "2"], "--task goes with --answer, --retry or --skip"],
    [["resume", "--retry", "--skip"], "say one of --answer, --retry, --skip, --deliver"],
    [["pause"], "no run is at work here"],
    [["cancel", "nope"], 'there is no run "nope" here'],
  ])("nexus %j says so", async (args, words) => {
    const { root, env } = place();
    const { status, stderr } = await here("nexus", root, args, env);
    expect(stderr).toContain(words);
    expect(status).toBe(2);
  });

  it("refuses an answer to a task that asks nothing, and a plan nobody waits for, and records neither", async () => {
    const { root, env } = place();
    const run = strangersRun(root);
    const { journal } = runFolder(runsFolder(root), run, false);
    const before = readFileSync(journal, "utf8");
    writeFileSync(join(root, "plan.json"), '{"tasks":[{"title":"x"}]}');
    write(root, { "request/nutshell.json": { bundle_type: "request" } });
    const consenting = { ...env, NUTCRACKER_CONSENT: "all" };
    const skip = await here("nexus", root, ["resume", run, "--task", "1", "--skip", "-y"], consenting);
    const plan = await here("nexus", root, ["resume", run, "--plan", "plan.json", "-y"], consenting);
    for (const { status } of [skip, plan]) expect(status).toBe(2);
    expect(skip.stderr + plan.stderr).not.toContain("bug:");
    expect(readFileSync(journal, "utf8")).toBe(before);
  });
});

describe.skipIf(!held)("a run from the page", () => {
  it("starts, waits for its plan, follows the changed one, is judged by a person", { timeout: 60_000 }, async () => {
    const { root, env, act } = place();
    cpSync(join(source, "examples/1-bug-fix"), join(root, "task"), { recursive: true });
    const manifest = JSON.parse(readFileSync(join(root, "task/nutshell.json"), "utf8"));
    manifest.acceptance.checklist = ["the name reads well"];
    writeFileSync(join(root, "task/nutshell.json"), JSON.stringify(manifest));
    const begin: Action = {
      ...{ action: "start", request: "task", driver: "demo", budget: "", answer: "mind the dashes" },
      ...{ reviewPlan: true, allowInstall: false },
    };
    const started = await act(begin);
    if (!started.done || started.run === undefined) throw new Error(JSON.stringify(started));
    const { run } = started;
    await until(() => statusOf(root, run).status === "paused");
    const row = () => new RunFollower(root).rows()[0]!;
    const plan = JSON.parse(row().planToRead) as { tasks: { title: string; context: string }[] };
    expect(waitingIn({ runs: [row()], plan: null }).plans).toHaveLength(1);
    expect(await act({ action: "approve", run, plan: '{"tasks":[]}' })).toMatchObject({ done: false });
    plan.tasks[0]!.context = "changed in the page";
    expect(await act({ action: "approve", run, plan: JSON.stringify(plan) })).toMatchObject({ done: true });
    await until(() => statusOf(root, run).status === "delivered");
    const { state, options } = statusOf(root, run);
    expect(state.plan!.tasks[0]!.context).toBe("changed in the page");
    expect(options!.answer).toBe("mind the dashes");
    const prompts = runFolder(runsFolder(root), run, false).agents;
    expect(readFileSync(join(prompts, "engineer-1/prompt.md"), "utf8")).toContain("mind the dashes");

    const item = "the name reads well";
    const judged = await act({ action: "judge", run, item, status: "failed", by: "Ada", why: "it does not" });
    expect(judged).toMatchObject({
      done: true,
      message: expect.stringContaining("says Ada; the delivery now says partial"),
    });
    const verified = await here(
      "nutshell",
      root,
      ["verify", state.delivered!.path, "--request", "task", "--json"],
      env,
    );
    expect(verified.stdout).toContain("Ada: it does not");
    // What the board says follows the delivery, not the journal of before.
    const follower = new RunFollower(root);
    await until(() => follower.rows()[0]!.verdict.word === "partial");
    expect(follower.rows()[0]!.verdict.checklist).toMatchObject({ total: 1, failed: 1 });
  });

  it("at a question is tried again, answered with remarks, gone on without, and delivered as it is", {
    timeout: 120_000,
  }, async () => {
    const { root, env, act } = place();
    cpSync(join(source, "examples/1-bug-fix"), join(root, "task"), { recursive: true });
    // An agent that says it is done and does nothing; what it is told is kept in its prompt.
    writeFileSync(join(root, "lazy.mjs"), "console.log('All done.');\n");
    writeFileSync(join(root, "plan.json"), '{"tasks":[{"title":"Fix","criteria":["AC-001"]},{"title":"Note"}]}');
    const command = ["--driver", "command", "--command", `node ${join(root, "lazy.mjs")}`, "--quick"];
    const asked = await here("nexus", root, ["run", "task", "--plan", "plan.json", ...command, "-q"], env);
    expect(asked.stdout).toContain("failed again");
    const run = runIds(runsFolder(root))[0]!;
    const prompts = () => readdirSync(runFolder(runsFolder(root), run, false).agents).length;
    const row = () => new RunFollower(root).rows()[0]!;
    const atQuestion = () => until(() => row().status === "paused" && row().questions.length === 1);
    await atQuestion();

    const before = prompts();
    expect(await act({ action: "retry", run, task: 1 })).toEqual({ done: true, message: `run ${run} tries it again` });
    await atQuestion();
    expect(prompts()).toBeGreaterThan(before);

    const text = remarksText([{ about: "files/src/slug.mjs:3", quote: "return", text: "trim the dashes" }]);
    expect(await act({ action: "answer", run, task: 1, text })).toMatchObject({ done: true });
    await atQuestion();
    const { agents } = runFolder(runsFolder(root), run, false);
    const told = readdirSync(agents).map((name) => readFileSync(join(agents, name, "prompt.md"), "utf8"));
    expect(told.at(-1)! + told.join("")).toContain("files/src/slug.mjs:3 (return): trim the dashes");

    expect(await act({ action: "skip", run, task: 1 })).toMatchObject({
      done: true,
      message: `run ${run} goes on without it`,
    });
    await until(() => row().status === "delivered");
    expect(row().tasks.rows[0]!.stage).toBe("given up");
    expect(row().verdict).toMatchObject({ word: "failed", tone: "bad", failing: [{ id: "AC-001" }] });

    const again = await here("nexus", root, ["run", "task", ...command, "-q"], env);
    expect(again.stdout).toContain("failed again");
    const second = runIds(runsFolder(root)).at(-1)!;
    expect(await act({ action: "deliver", run: second })).toMatchObject({
      done: true,
      message: `run ${second} delivers what is there`,
    });
    await until(() => row().id === second && row().status === "delivered");
    expect(existsSync(row().delivery)).toBe(true);
  });

  it("is paused while an agent works, goes on, and is cancelled", { timeout: 60_000 }, async () => {
    const { root, env, act } = place();
    cpSync(join(source, "examples/1-bug-fix"), join(root, "task"), { recursive: true });
    const args = [join(source, "bin/nexus.js"), "run", "task", "--driver", "command", "--command", "sleep 30", "-q"];
    const at = spawn(process.execPath, args, { cwd: root, env, stdio: "ignore" });
    const ended = new Promise<number | null>((resolve) => at.once("exit", resolve));
    stops.push(() => at.kill("SIGKILL"));
    const runs = runsFolder(root);
    await until(() => existsSync(runs) && runIds(runs).length === 1);
    const run = runIds(runs)[0]!;
    await until(() => statusOf(root, run).state.agents.size > 0);
    expect(await act({ action: "pause", run })).toEqual({ done: true, message: `run ${run} is paused` });
    expect(await ended).toBe(1);
    expect(statusOf(root, run)).toMatchObject({ status: "paused", detail: "a person paused the run" });
    expect(existsSync(runFolder(runs, run, false).stop)).toBe(false);
    expect(await act({ action: "resume", run, budget: "" })).toEqual({ done: true, message: `run ${run} goes on` });
    await until(() => statusOf(root, run).status === "running");
    expect(await act({ action: "cancel", run })).toEqual({ done: true, message: `run ${run} is cancelled` });
    expect(statusOf(root, run).status).toBe("cancelled");
  });
});

it("forgets a request to stop that was there before", async () => {
  const { root, env } = place();
  const folder = createRun(runsFolder(root), {
    ...{ id: "20260101-000000-bbbb", created_at: "2026-01-01T00:00:00Z", title: "T", request_id: "nut-1" },
    ...{ request: "/nowhere.nut", driver: "demo", budget: { agentMs: 1, stallMs: 1, loop: 1 }, review_plan: false },
    ...{ yes: true, force: false, output: "/out.nut" },
  });
  new Journal(folder.journal).close();
  writeFileSync(folder.stop, '{"stop":"cancelled"}');
  await here("nexus", root, ["resume", folder.id, "-y"], { ...env, NUTCRACKER_CONSENT: "all" });
  expect(existsSync(folder.stop)).toBe(false);
});
