// Sessions that end although the work is not to blame: they cost no try, they are waited for, and everybody is told.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listRuns, RunReader, runsFolder } from "../../src/run/index.js";
import type { AgentTrouble } from "../../src/schema/journal.js";
import { type Agent, helloRequest, put, scratch, sweep, type World, world } from "./scripted.js";

let root: string;
beforeEach(() => {
  root = scratch();
  helloRequest(root);
});
afterEach(sweep);

const approve = "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
const honest: Agent = ({ role, cwd }, emit) => {
  emit({ type: "session", id: `s-${role}` });
  if (role === "engineer") put(cwd, { "files/hello.txt": "hello world\n" });
  return role === "reviewer" ? approve : role === "tester" ? "VERDICT: pass" : "RESULT: done";
};

/** The engineer meets each trouble once, then does its work. */
function meeting(...troubles: readonly AgentTrouble[]): Agent {
  const left = [...troubles];
  return (request, emit) => {
    const trouble = request.role === "engineer" ? left.shift() : undefined;
    if (trouble === undefined) return honest(request, emit);
    emit({ type: "session", id: `s-${request.role}` });
    put(request.cwd, { "files/half.txt": "half done\n" });
    return { outcome: "failed", text: "", error: trouble.message, trouble };
  };
}

const limit = (retryAfterMs?: number): AgentTrouble => ({
  kind: "limit",
  message: "too many requests",
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const transport: AgentTrouble = { kind: "transport", message: "stream disconnected" };

/** Time that passes only by sleeping. */
function sleepless() {
  let now = 0;
  const slept: number[] = [];
  const sleep = async (ms: number) => {
    slept.push(ms);
    now += ms;
  };
  return { slept, sleep, clock: () => now };
}

const of = (w: World, type: string) => w.journal().filter((record) => record.type === type);
const engineers = (w: World) =>
  w.journal().filter((record) => record.type === "agent_started" && record.role === "engineer");
const resumable = { canResume: true };

describe("a session that is not to blame", () => {
  it("waits as long as the vendor asks, goes on in the same session and tree, and costs no try", async () => {
    const time = sleepless();
    const w = await world({ root, agent: meeting(limit(40_000), limit(7_000)), runner: resumable, ...time });
    let seen = "";
    const progress = ({ type }: { type: string }) => {
      if (type === "waiting") seen = new RunReader(runsFolder(join(root, "project")), "r1").read().detail;
    };
    const { delivery } = await w.go(null, { progress });
    expect(delivery?.result.status).toBe("completed");
    expect(time.slept).toEqual([40_000, 7_000]);
    expect(of(w, "waiting")).toMatchObject([
      {
        program: "scripted",
        trouble: "limit",
        ms: 40_000,
        message: "scripted limits this account (too many requests); the next try is in 40 s",
      },
      { ms: 7_000 },
    ]);
    // The board and `nexus runs` read the same journal.
    expect(seen).toBe("scripted limits this account (too many requests); the next try is in 7 s");
    expect(w.events.filter(({ type }) => type === "waiting")).toHaveLength(2);
    expect(engineers(w)).toMatchObject([
      { mode: "fresh" },
      { mode: "resume", session: "s-engineer", reason: "it was interrupted" },
      { mode: "resume", session: "s-engineer" },
    ]);
    expect(of(w, "task_failed")).toEqual([]);
    expect(w.state().tasks.get(1)).toMatchObject({ failures: 0 });
  });

  it("waits longer each time, pauses when that is longer than allowed, and plain resume tries again", async () => {
    const time = sleepless();
    const always: Agent = () => ({ outcome: "failed", text: "", error: "stream disconnected", trouble: transport });
    const w = await world({ root, agent: always, budget: ["wait=1m"], ...time });
    expect(await w.go()).toMatchObject({
      status: "paused",
      paused: {
        reason: "transport",
        message: "scripted does not answer as it should (stream disconnected)",
        hint: "nexus resume r1",
      },
    });
    expect(time.slept).toEqual([5_000, 10_000, 20_000]);
    expect(w.state().tasks.get(1)).toMatchObject({ status: "pending", failures: 0 });
    expect((await w.go(null, { agent: honest })).delivery?.result.status).toBe("completed");
  });

  it("is not asked without end although its vendor says now, or a session that only began is said to be gone", async () => {
    const troubles = [limit(0), { kind: "session", message: "session not found" } as const];
    for (const [index, trouble] of troubles.entries()) {
      const time = sleepless();
      const always: Agent = () => ({ outcome: "failed", text: "", error: trouble.message, trouble });
      const w = await world({ root: index === 0 ? root : scratchWith(), agent: always, budget: ["wait=40s"], ...time });
      expect(await w.go()).toMatchObject({ status: "paused", paused: { hint: "nexus resume r1" } });
      expect(time.slept).toEqual(index === 0 ? [10_000, 20_000] : [5_000, 10_000, 20_000]);
      expect(w.state().tasks.get(1)).toMatchObject({ failures: 0 });
    }
  });

  it("is not waited for longer than the run may take, and an interruption ends the wait", async () => {
    const w = await world({ root, agent: meeting(limit(600_000)), budget: ["time=30s"], ...sleepless() });
    expect(await w.go()).toMatchObject({ status: "paused", paused: { reason: "time" } });
    const stop = new AbortController();
    const waits = world({ root: scratchWith(), agent: meeting(limit(600_000)), signal: stop.signal });
    const going = (await waits).go(null, { progress: ({ type }) => void (type === "waiting" && stop.abort()) });
    await expect(going).rejects.toMatchObject({ code: "INTERRUPTED" });
  });

  it("pauses at once when a login is refused, with the command that helps", async () => {
    const login: AgentTrouble = { kind: "login", message: "401 the token is not valid any more" };
    const w = await world({ root, agent: meeting(login), runner: { login: "codex login" }, ...sleepless() });
    expect(await w.go()).toMatchObject({
      status: "paused",
      paused: {
        reason: "login",
        message: "scripted is not let in: 401 the token is not valid any more",
        hint: "codex login && nexus resume r1",
      },
    });
    expect(w.started).toEqual(["engineer-1"]);
    expect((await w.go()).delivery?.result.status).toBe("completed");
    expect(w.state().tasks.get(1)).toMatchObject({ failures: 0 });
  });

  it("pauses at once when nobody has the model, with the flag that names another, and costs no try", async () => {
    const model: AgentTrouble = { kind: "model", message: "Model not found: s/nope." };
    const w = await world({ root, agent: meeting(model), fallbacks: { other: honest }, ...sleepless() });
    expect(await w.go()).toMatchObject({
      status: "paused",
      paused: {
        reason: "model",
        message: "scripted has no such model: Model not found: s/nope.",
        hint: "nexus resume r1 --model '<name>'",
      },
    });
    expect([w.started, w.state().tasks.get(1)?.failures]).toEqual([["engineer-1"], 0]);
    expect((await w.go()).delivery?.result.status).toBe("completed");
  });

  it("begins anew when the session it should continue is gone, and never asks for that one again", async () => {
    const w = await world({
      root,
      agent: meeting(transport, { kind: "session", message: "no conversation found" }),
      runner: resumable,
      ...sleepless(),
    });
    expect((await w.go()).delivery?.result.status).toBe("completed");
    const starts = engineers(w);
    expect(starts).toMatchObject([{ mode: "fresh" }, { mode: "resume" }, { mode: "fresh" }]);
  });

  it("is retried while it plans and while it diagnoses", async () => {
    const plan = join(root, "plan.json");
    writeFileSync(plan, JSON.stringify({ tasks: [{ title: "greet", criteria: "all" }] }));
    const met = new Set<string>();
    const agent: Agent = (request, emit) => {
      const first = !met.has(request.role);
      met.add(request.role);
      if (request.role === "engineer") return first ? "RESULT: done" : honest(request, emit);
      if (request.role === "reviewer") return approve;
      return first ? { outcome: "failed", text: "", error: "x", trouble: transport } : "look at the file";
    };
    const w = await world({ root, agent, options: { plan }, ...sleepless() });
    expect((await w.go()).delivery?.result.status).toBe("completed");
    expect(of(w, "diagnosed")).toMatchObject([{ text: "look at the file" }]);
  });
});

describe("another program", () => {
  it("takes over when one is limited for longer than allowed, with sessions of its own", async () => {
    const w = await world({
      root,
      agent: meeting(transport, limit(3 * 3_600_000)),
      runner: resumable,
      fallbacks: { other: honest },
      ...sleepless(),
    });
    const { delivery } = await w.go();
    expect(delivery?.result.status).toBe("completed");
    const said = "other took over from scripted: scripted limits this account (too many requests)";
    expect(JSON.stringify(delivery?.result.execution_log)).toContain(said);
    expect(of(w, "switched")).toMatchObject([{ from: "scripted", to: "other" }]);
    expect(w.events.filter(({ type }) => type === "switched")).toHaveLength(1);
    const starts = engineers(w);
    expect(starts).toMatchObject([{ mode: "fresh" }, { mode: "resume" }, { mode: "fresh" }]);
    expect(listRuns(runsFolder(join(root, "project")))).toMatchObject([{ driver: "other" }]);
  });

  it("takes over in time although the one before waits by itself, which counts as well", async () => {
    const time = sleepless();
    const silent: Agent = async (request, emit) => {
      if (request.role !== "engineer") return honest(request, emit);
      emit({ type: "waiting", why: "limit", message: "too many requests" });
      await time.sleep(90_000);
      emit({ type: "waiting", why: "limit", message: "too many requests" });
      return { outcome: "failed", text: "", error: "too many requests", trouble: limit() };
    };
    const w = await world({ root, agent: silent, fallbacks: { other: honest }, budget: ["wait=3m"], ...time });
    expect((await w.go()).delivery?.result.status).toBe("completed");
    expect(of(w, "switched")).toMatchObject([{ from: "scripted", to: "other" }]);
    expect(time.slept).toEqual([90_000, 5_000, 90_000]);
  });

  it("is not held up by a login of the one before that is refused afterwards", async () => {
    const plan = join(root, "plan.json");
    const tasks = [
      { title: "greet", files: ["files/hello.txt"], criteria: "all" },
      { title: "other", files: ["files/other.txt"] },
    ];
    writeFileSync(plan, JSON.stringify({ tasks }));
    let takeOver = () => {};
    const over = new Promise<void>((resolve) => {
      takeOver = resolve;
    });
    const agent: Agent = async ({ agent: name }) => {
      const isFirst = name === "engineer-1";
      if (!isFirst) await over;
      const trouble: AgentTrouble = isFirst ? limit(3 * 3_600_000) : { kind: "login", message: "401" };
      return { outcome: "failed", text: "", error: trouble.message, trouble };
    };
    const other: Agent = (request, emit) => {
      if (request.taskPrompt.includes("TASK: other")) return "RESULT: done";
      return honest(request, emit);
    };
    const w = await world({ root, agent, options: { plan, jobs: 2 }, fallbacks: { other }, ...sleepless() });
    const { delivery, paused } = await w.go(null, { progress: ({ type }) => void (type === "switched" && takeOver()) });
    expect([delivery?.result.status, paused]).toEqual(["completed", undefined]);
  });

  it("goes on by the person's word, and no session of the one before is continued", async () => {
    const stop = new AbortController();
    const w = await world({ root, agent: meeting(transport), runner: resumable, signal: stop.signal });
    await w.go(null, { progress: ({ type }) => void (type === "waiting" && stop.abort()) }).catch(() => {});
    const now = new AbortController().signal;
    const { delivery } = await w.go(null, {
      agent: honest,
      signal: now,
      switched: { from: "scripted", to: "scripted" },
    });
    expect(delivery?.result.status).toBe("completed");
    const starts = engineers(w);
    expect(starts).toMatchObject([{ mode: "fresh" }, { mode: "fresh" }]);
  });
});

describe("what a session that goes on has used", () => {
  it("is counted once, whether its program counts the turn or the whole session", async () => {
    const turns = [limit(1_000), limit(1_000)];
    const run = meeting(...turns);
    let turn = 0;
    const agent: Agent = (request, emit) => {
      if (request.role === "engineer") {
        turn += 1;
        // As Codex counts tokens and Claude Code money: from the session's beginning.
        emit({ type: "usage", tokens: 100 * turn, costUsd: 0.5 * turn, wholeSession: ["tokens", "cost"] });
      }
      return run(request, emit);
    };
    const w = await world({ root, agent, runner: resumable, ...sleepless() });
    await w.go();
    expect(turn).toBe(3);
    expect(w.state().spent).toMatchObject({ tokens: 300, costUsd: 1.5 });
  });
});

function scratchWith(): string {
  const folder = scratch();
  helloRequest(folder);
  return folder;
}
