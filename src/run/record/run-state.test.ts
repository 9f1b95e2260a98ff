import { describe, expect, it } from "vitest";
import type { AgentEnd, JournalRecord } from "../../schema/journal.js";
import { replay } from "./run-state.js";

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
  const fold = (...records: JournalRecord[]) =>
    replay([{ at, type: "created", version: 2, run: "r" }, { at, type: "planned", plan }, ...records]);

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
});
