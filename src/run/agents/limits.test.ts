import { describe, expect, it } from "vitest";
import { readConstraints, violations } from "../../acceptance/index.js";
import { agentBreaker, nextDeadline, runBreaker } from "./breakers.js";
import { DEFAULT_BUDGET, parseBudget } from "./budget.js";

describe("budget", () => {
  it("reads time, tokens and cost", () => {
    expect(parseBudget(["time=10m,tokens=200k", "cost=2.5"])).toEqual({
      ...DEFAULT_BUDGET,
      timeMs: 600_000,
      tokens: 200_000,
      costUsd: 2.5,
    });
    for (const wrong of ["time=10", "tokens=-1", "money=3", "cost=", "time=0s", "__proto__=1"]) {
      expect(() => parseBudget([wrong])).toThrow(/--budget does not understand/);
    }
  });
});

describe("breakers", () => {
  const budget = parseBudget(["time=10s,tokens=100,cost=1,agent=5s,stall=2s,loop=3"]);

  it("stops a run that spent what it may", () => {
    expect(runBreaker({ ms: 0, tokens: 0, costUsd: 0 }, budget)).toBeNull();
    expect(runBreaker({ ms: 10_000, tokens: 0, costUsd: 0 }, budget)?.breaker).toBe("time");
    expect(runBreaker({ ms: 0, tokens: 100, costUsd: 0 }, budget)).toMatchObject({
      breaker: "tokens",
      goOn: "--budget tokens=200",
    });
    expect(runBreaker({ ms: 0, tokens: 0, costUsd: 1 }, budget)?.breaker).toBe("cost");
  });

  it("stops an agent that hangs, goes on too long or loops", () => {
    const signs = { startedMs: 0, lastEventMs: 0, repeats: 1, lastCall: "read" };
    expect(agentBreaker(signs, 1_000, budget)).toBeNull();
    expect(agentBreaker(signs, 2_000, budget)?.breaker).toBe("stall");
    expect(agentBreaker({ ...signs, lastEventMs: 4_900 }, 5_000, budget)?.breaker).toBe("agent");
    expect(agentBreaker({ ...signs, repeats: 3 }, 100, budget)?.message).toBe("an agent called read 3 times in a row");
    const spent = { ms: 0, tokens: 0, costUsd: 0 };
    expect(nextDeadline({ ...signs, lastEventMs: 1_000 }, spent, 1_500, budget)).toBe(1_500);
    expect(nextDeadline(signs, { ...spent, ms: 9_000 }, 500, budget)).toBe(1_000);
  });
});

describe("the edge of a limit", () => {
  const budget = parseBudget(["time=10s,tokens=100,cost=1,agent=5s,stall=2s,loop=3"]);
  const spent = { ms: 0, tokens: 0, costUsd: 0 };
  const signs = { startedMs: 0, lastEventMs: 0, repeats: 0, lastCall: "read" };

  it.each([
    [{ ms: 9_999 }, null],
    [{ ms: 10_000 }, "--budget time=20s"],
    [{ ms: 95_000 }, "--budget time=105s"],
    [{ tokens: 150 }, "--budget tokens=250"],
    [{ costUsd: 1.255 }, "--budget cost=2.26"],
    [{ tokens: 99 }, null],
    [{ tokens: 100 }, "--budget tokens=200"],
    [{ costUsd: 0.99 }, null],
    [{ costUsd: 1 }, "--budget cost=2"],
    // The command that is given must lead on, whichever limits were reached.
    [{ ms: 10_000, tokens: 100, costUsd: 1 }, "--budget time=20s,tokens=200,cost=2"],
  ])("is reached by a run that spent %j: %s", (more, goOn) => {
    expect(runBreaker({ ...spent, ...more }, budget)?.goOn ?? null).toBe(goOn);
  });

  it.each([
    [{ lastEventMs: 3_001 }, 4_999, null],
    [{ lastEventMs: 3_001 }, 5_000, "--budget agent=10s"],
    [{ lastEventMs: 1 }, 2_000, null],
    [{}, 2_000, "--budget stall=4s"],
    [{ repeats: 2 }, 1, null],
    [{ repeats: 3 }, 1, "--budget loop=6"],
  ])("is reached by an agent with %j at %i: %s", (more, nowMs, goOn) => {
    expect(agentBreaker({ ...signs, ...more }, nowMs, budget)?.goOn ?? null).toBe(goOn);
  });

  it("is no limit where none was set", () => {
    expect(runBreaker({ ms: 1e12, tokens: 1e12, costUsd: 1e12 }, DEFAULT_BUDGET)).toBeNull();
  });

  it("is waited for neither in a busy loop nor longer than a timer can", () => {
    expect(nextDeadline(signs, { ...spent, ms: 99_000 }, 0, budget)).toBe(10);
    const patient = parseBudget(["agent=2000h,stall=2000h"]);
    expect(nextDeadline(signs, spent, 0, patient)).toBe(2 ** 31 - 1);
  });
});

describe("constraints", () => {
  it("enforces what it fully understands and passes the rest on", () => {
    const { rules, spoken } = readConstraints([
      "Do not modify files outside files/src/",
      "Never touch `tests/` or files/legacy.js.",
      "Only change files in files/src/ and files/docs/",
      "Change only files/src/slug.mjs",
      "Do not change files/main.mjs or anything under tests/",
      "No  agent\n may touch files/old/",
      "Do not change the public API",
      "files/csv/ and files/report/ do not import each other",
      "New code goes to files/src/a.mjs; of files/src/b.mjs only delayOf may change",
      "All new code must have corresponding tests",
      "Do not modify anything outside of the spirit of files/src/",
      "Only change files/src/ and what the tests need",
    ]);
    expect(rules.map(({ kind, paths }) => [kind, paths])).toEqual([
      ["only", ["files/src/"]],
      ["never", ["tests/", "files/legacy.js"]],
      ["only", ["files/src/", "files/docs/"]],
      ["only", ["files/src/slug.mjs"]],
      ["never", ["files/main.mjs", "tests/"]],
      ["never", ["files/old/"]],
    ]);
    expect(spoken).toEqual([
      "Do not change the public API",
      "files/csv/ and files/report/ do not import each other",
      "New code goes to files/src/a.mjs; of files/src/b.mjs only delayOf may change",
      "All new code must have corresponding tests",
      "Do not modify anything outside of the spirit of files/src/",
      "Only change files/src/ and what the tests need",
    ]);
  });

  it("names each path with the rule it breaks", () => {
    const { rules } = readConstraints([
      "Do not modify files outside files/src/",
      "Do not edit files/src/gen/",
      "Do not delete files/src/a.js",
    ]);
    const changed = ["files/src/a.js", "files/src/gen/b.js", "README.md"];
    expect(violations([{ path: "files/src/a.js", kind: "deleted" }], rules)).toEqual([
      { path: "files/src/a.js", constraint: "Do not delete files/src/a.js" },
    ]);
    expect(
      violations(
        changed.map((path) => ({ path, kind: "modified" as const })),
        rules,
      ),
    ).toEqual([
      { path: "files/src/gen/b.js", constraint: "Do not edit files/src/gen/" },
      { path: "README.md", constraint: "Do not modify files outside files/src/" },
    ]);
  });
});
