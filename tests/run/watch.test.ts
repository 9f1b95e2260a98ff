// Agents that are watched while they work: signs of life, equal calls, what all of them use together.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/run/index.js";
import { type Agent, helloRequest, put, scratch, sweep, world } from "./scripted.js";

let root: string;
beforeEach(() => {
  root = scratch();
});
afterEach(sweep);

const tool = (key: string): AgentEvent => ({ type: "tool", name: "read", key });
const approve = "VERDICT: pass\n- [passed] 1: files/hello.txt says so";

/** Emits, then does its work well. */
const telling =
  (emit: (tell: (event: AgentEvent) => void) => void | Promise<void>): Agent =>
  async (request, tell) => {
    if (request.role === "reviewer") return approve;
    if (request.role !== "engineer") return "RESULT: done";
    await emit(tell);
    put(request.cwd, { "files/hello.txt": "hello world\n" });
    return "RESULT: done";
  };

const honest = telling(() => {});

const go = async (agent: Agent, budget: string[]) => {
  helloRequest(root);
  const w = await world({ root, agent, budget });
  return { w, outcome: await w.go() };
};
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("a loop", () => {
  it("is the same call in a row, not the same call now and then", async () => {
    const calls = telling((tell) => {
      for (let i = 0; i < 20; i += 1) tell(tool(i % 2 === 0 ? "a" : "b"));
    });
    expect((await go(calls, ["loop=5"])).outcome.status).toBe("delivered");
  });

  it("is counted from the first of the equal calls", async () => {
    const calls = telling((tell) => {
      for (const key of ["b", "a", "a", "a", "a", "b"]) tell(tool(key));
    });
    expect((await go(calls, ["loop=5"])).outcome.status).toBe("delivered");
  });
});

describe("silence", () => {
  it("is measured from the latest sign of life", async () => {
    const alive = telling(async (tell) => {
      for (let i = 0; i < 10; i += 1) {
        tell({ type: "message", text: "working" });
        await pause(200);
      }
    });
    expect((await go(alive, ["stall=1500ms"])).outcome.status).toBe("delivered");
  });
});

describe("what agents use", () => {
  it("is counted while they work and after, once", async () => {
    const { w, outcome } = await go(
      telling((tell) => {
        tell({ type: "usage", tokens: 40, costUsd: 0.25 });
        tell({ type: "usage", tokens: 60, costUsd: 0.5 });
      }),
      ["tokens=101,cost=1"],
    );
    expect(outcome.status).toBe("delivered");
    expect(w.state().spent).toMatchObject({ tokens: 60, costUsd: 0.5 });
    expect(outcome.delivery?.result.deliverer).toMatchObject({ total_tokens: 60, total_cost_usd: 0.5 });
  });

  it("counts together for all that work at once", async () => {
    helloRequest(root);
    put(root, {
      "plan.json": JSON.stringify({ tasks: ["a", "b"].map((title) => ({ title, files: [`files/${title}`] })) }),
    });
    const agent: Agent = (_, tell) => {
      tell({ type: "usage", tokens: 60, costUsd: 0 });
      return new Promise(() => {});
    };
    const options = { plan: join(root, "plan.json"), jobs: 2 };
    const w = await world({ root, agent, options, budget: ["tokens=100"] });
    expect((await w.go()).paused).toMatchObject({ reason: "tokens", message: "agents used 120 of 100 tokens" });
    expect(w.state().spent.tokens).toBe(120);
    // What was spent before a pause stays spent.
    expect((await w.go(null, { budget: ["tokens=110"] })).paused?.reason).toBe("tokens");
  });
});

describe("time", () => {
  it("is what passed, not what the wall clock says", async () => {
    helloRequest(root);
    let shift = 0;
    const now = () => new Date(Date.now() + shift);
    // The laptop slept for a day, then somebody set the clock back by ten.
    const agent: Agent = async (request, tell) => {
      shift = shift === 0 ? 86_400_000 : -864_000_000;
      tell({ type: "message", text: "working" });
      await pause(50);
      return honest(request, tell);
    };
    const w = await world({ root, agent, now, budget: ["time=10m,agent=5m,stall=5m"] });
    expect((await w.go()).status).toBe("delivered");
    expect(w.state().spent.ms).toBeGreaterThan(0);
    expect(w.state().spent.ms).toBeLessThan(600_000);
  });

  it("ends a run by the growing clock, and the way on counts what was spent", async () => {
    helloRequest(root);
    let ms = 0;
    const agent: Agent = (_, tell) => {
      ms = 95_000;
      tell({ type: "message", text: "slow" });
      return new Promise(() => {});
    };
    const w = await world({ root, agent, clock: () => ms, now: () => new Date(0), budget: ["time=10s"] });
    expect((await w.go()).paused).toMatchObject({ reason: "time", hint: "nexus resume r1 --budget time=105s" });
    expect(w.state().spent.ms).toBe(95_000);
  });
});

describe("a run that fails", () => {
  it("leaves no timer behind", async () => {
    helloRequest(root);
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const agent: Agent = () => {
      throw new Error("cannot be started");
    };
    const w = await world({ root, agent });
    await expect(w.go()).rejects.toThrow("cannot be started");
    expect(timers()).toBeLessThanOrEqual(before);
  });
});

describe("the log of an agent", () => {
  it("holds what it told, and the journal its session; what comes after its end is dropped", async () => {
    let late = (_: AgentEvent) => {};
    const { w } = await go(
      telling((tell) => {
        tell({ type: "session", id: "s-1", model: "m" });
        tell({ type: "file", path: "files/hello.txt" });
        late = tell;
      }),
      [],
    );
    late({ type: "session", id: "s-2" });
    const log = readFileSync(join(w.folder.agents, "engineer-1/log.jsonl"), "utf8").trim().split("\n");
    expect(log.map((line) => JSON.parse(line).type)).toEqual(["session", "file"]);
    expect(w.state().agents.get("engineer-1")).toMatchObject({ session: "s-1", model: "m" });
    expect(w.events.filter(({ type }) => type.startsWith("agent_")).map(({ type }) => type)).toContain("agent_file");
  });
});
