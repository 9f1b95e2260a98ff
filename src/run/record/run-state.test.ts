import { describe, expect, it } from "vitest";
import type { AgentEnd, JournalRecord } from "../../schema/journal.js";
import { applyRecord, emptyState, sawThisTree } from "./run-state.js";

const at = "2026-01-01T00:00:00Z";
const task = { id: 1, title: "t", context: "c", deps: [], owner: "engineer", kind: "work" } as const;
const plan = { source: "default", goal: "g", decisions: ["use b"], issues: [], tasks: [task] } as const;
const started = {
  at,
  type: "agent_started",
  agent: "a1",
  task: 1,
  role: "engineer",
  purpose: "work",
  mode: "fresh",
  reason: "first",
  base: 0,
  slot: "s1",
} as const;
const end: AgentEnd = {
  agent: "a1",
  task: 1,
  outcome: "done",
  text: "ok",
  ms: 5,
  usage: { tokens: 10, costUsd: 0.5 },
  changes: [],
  problems: [],
  tools: [],
  reported: true,
  decisions: [{ decision: "d" }],
  issues: [],
  judgements: [],
};

describe("run state", () => {
  const fold = (...records: JournalRecord[]) => {
    const state = emptyState();
    const first: JournalRecord[] = [
      { at, type: "created", version: 3, run: "r" },
      { at, type: "planned", plan },
    ];
    for (const record of [...first, ...records]) applyRecord(state, record);
    return state;
  };

  it("counts a try only when it came to its own end", () => {
    expect(fold(started).tasks.get(1)?.status).toBe("running");
    const stopped = fold(started, { at, type: "agent_ended", ...end, outcome: "stopped" });
    expect(stopped.tasks.get(1)).toMatchObject({ status: "pending", failures: 0 });
    expect(stopped.spent).toEqual({ ms: 0, tokens: 10, costUsd: 0.5 });
  });

  it("walks from failure over diagnosis and a second failure to a question and its answer", () => {
    const failed = [
      started,
      { at, type: "agent_ended", ...end },
      { at, type: "task_failed", task: 1, problems: ["test 1 fails"] },
    ] as const;
    const diagnosed = { at, type: "diagnosed", task: 1, role: "architect", text: "because" } as const;
    expect(fold(...failed).tasks.get(1)).toMatchObject({ status: "failed", failures: 1 });
    expect(fold(...failed, diagnosed).tasks.get(1)).toMatchObject({
      status: "pending",
      diagnosis: { text: "because" },
    });
    const asked = [...failed, diagnosed, ...failed, { at, type: "asked", task: 1, question: "what now" }] as const;
    expect(fold(...asked).tasks.get(1)).toMatchObject({ status: "failed", failures: 2, question: "what now" });
    const answered = { at, type: "answered", task: 1, answer: "retry", text: "use x" } as const;
    expect(fold(...asked, answered).tasks.get(1)).toMatchObject({ status: "pending", answer: "use x" });
  });

  it("puts a change into the tree only once it was merged", () => {
    const change = { path: "a", kind: "created", before: null, after: null } as const;
    const merging = { at, type: "merging", task: 1, agent: "a1", changes: [change] } as const;
    expect(fold(started, merging).versions).toEqual([]);
    const merged = fold(started, merging, { at, type: "merged", task: 1, agent: "a1" });
    expect(merged.versions).toEqual([[change]]);
    expect(merged.decisions).toEqual([{ decision: "use b" }]);
  });

  const change = (path: string) => ({ path, kind: "created", before: null, after: null }) as const;
  const merge = (agent: string, path: string): JournalRecord[] => [
    { ...started, agent },
    { at, type: "agent_ended", ...end, agent },
    { at, type: "merging", task: 1, agent, changes: [change(path)] },
    { at, type: "merged", task: 1, agent },
  ];

  it("knows which version last touched a path, and which was an agent's last", () => {
    const state = fold(...merge("a1", "x"), ...merge("a2", "y"), ...merge("a3", "x"));
    expect(Object.fromEntries(state.lastEdits)).toEqual({ x: 3, y: 2 });
    expect(Object.fromEntries(state.lastMerges)).toEqual({ a1: 1, a2: 2, a3: 3 });
    expect(state.tasks.get(1)?.status).toBe("merged");
  });

  it("adds up what agents used and how long the run worked, pauses aside", () => {
    const pause: JournalRecord = { at, type: "paused", reason: "r", message: "m", hint: "h", ms: 40 };
    const state = fold(...merge("a1", "x"), pause, { at, type: "continued" }, ...merge("a2", "y"), pause);
    expect(state.spent).toEqual({ ms: 80, tokens: 20, costUsd: 1 });
    expect(state.paused).toMatchObject({ reason: "r" });
    expect(fold(pause, { at, type: "continued" }).paused).toBeNull();
  });

  it("gives a diagnosis and a plan's agent no part in the task itself", () => {
    const failure: JournalRecord[] = [
      ...merge("a1", "x").slice(0, 2),
      { at, type: "task_failed", task: 1, problems: ["p"] },
    ];
    const diagnosis: JournalRecord[] = [
      { ...started, agent: "a2", purpose: "diagnose" },
      { at, type: "agent_ended", ...end, agent: "a2" },
    ];
    const state = fold(...failure, ...diagnosis);
    expect(state.tasks.get(1)).toMatchObject({ status: "failed", last: { agent: "a1" } });
    expect(state.agents.get("a2")?.end).toBeDefined();
  });

  it("drops a task that is not to be tried again", () => {
    const failure: JournalRecord[] = [
      { at, type: "task_failed", task: 1, problems: ["p"] },
      { at, type: "asked", task: 1, question: "q" },
    ];
    expect(fold(...failure, { at, type: "answered", task: 1, answer: "deliver" }).tasks.get(1)).toMatchObject({
      status: "skipped",
      question: undefined,
    });
  });

  it("puts a task aside for the one that merges it", () => {
    const state = fold({ at, type: "task_added", task: { ...task, id: 2, kind: "merge" }, for: 1 });
    expect(state.tasks.get(1)).toMatchObject({ status: "conflict", mergedBy: 2 });
    expect(state.tasks.get(2)).toMatchObject({ status: "pending", parent: 1 });
    expect(fold({ at, type: "task_added", task: { ...task, id: 2, kind: "repair" } }).tasks.get(1)?.status).toBe(
      "pending",
    );
  });

  it("remembers the session an agent is in, and its model once it is known", () => {
    const named = fold(started, { at, type: "agent_session", agent: "a1", session: "s1", model: "m" });
    expect(named.agents.get("a1")).toMatchObject({ session: "s1", model: "m" });
    const again = fold(
      started,
      { at, type: "agent_session", agent: "a1", session: "s1", model: "m" },
      {
        at,
        type: "agent_session",
        agent: "a1",
        session: "s2",
      },
    );
    expect(again.agents.get("a1")).toMatchObject({ session: "s2", model: "m" });
  });

  it("knows whether an agent saw the tree as it is", () => {
    const state = fold(...merge("a1", "x"), { ...started, agent: "a2", base: 1 });
    expect([sawThisTree(state, "a1"), sawThisTree(state, "a2"), sawThisTree(state, undefined)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
