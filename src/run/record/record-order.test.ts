import { describe, expect, it } from "vitest";
import type { AgentEnd, JournalRecord } from "../../schema/journal.js";
import { misplaced } from "./record-order.js";
import { applyRecord, emptyState, type RunState } from "./run-state.js";

const at = "2026-01-01T00:00:00Z";
const digest = `sha256:${"0".repeat(64)}`;
const task = (id: number) => ({ id, title: "t", context: "c", deps: [], owner: "engineer", kind: "work" }) as const;
const plan = { source: "default", goal: "g", decisions: [], issues: [], tasks: [task(1), task(2)] } as const;

const created: JournalRecord = { at, type: "created", version: 3, run: "r" };
const opened: JournalRecord = { at, type: "opened", digest, base: digest };
const planned: JournalRecord = { at, type: "planned", plan };
const started = (agent: string, more: object = {}): JournalRecord => ({
  at,
  type: "agent_started",
  agent,
  task: 1,
  role: "engineer",
  purpose: "work",
  mode: "fresh",
  reason: "",
  base: 0,
  slot: "slot-1",
  ...more,
});
const end: AgentEnd = {
  agent: "e-1",
  task: 1,
  outcome: "done",
  text: "ok",
  ms: 1,
  usage: { tokens: 0, costUsd: 0 },
  changes: [],
  problems: [],
  tools: [],
  reported: true,
  decisions: [],
  issues: [],
  judgements: [],
};
const ended: JournalRecord = { at, type: "agent_ended", ...end };
const merging: JournalRecord = { at, type: "merging", task: 1, agent: "e-1", changes: [] };
const merged: JournalRecord = { at, type: "merged", task: 1, agent: "e-1" };
const completed: JournalRecord = { at, type: "task_completed", task: 1, evidence: "e" };
const failed: JournalRecord = { at, type: "task_failed", task: 1, problems: ["p"] };
const diagnosed: JournalRecord = { at, type: "diagnosed", task: 1, role: "architect", text: "t" };
const asked: JournalRecord = { at, type: "asked", task: 1, question: "q" };
const answered: JournalRecord = { at, type: "answered", task: 1, answer: "retry" };
const added = (id: number, parent?: number): JournalRecord => ({
  at,
  type: "task_added",
  task: { ...task(id), kind: "merge" },
  ...(parent === undefined ? {} : { for: parent }),
});
const report = {
  verdict: "passed",
  counts: { passed: 0, failed: 0, skipped: 0, unknown: 0, proven: 0 },
  results: [],
  changes: [],
  digests: { result: digest, tests: digest },
  compared: true,
  sandboxed: true,
  warnings: [],
} as const;
const accepted = (versions: number): JournalRecord => ({ at, type: "accepted", attempt: 1, versions, report });
const delivered: JournalRecord = { at, type: "delivered", path: "/d", hash: digest, status: "completed", ms: 1 };
const closed: JournalRecord = { at, type: "closed" };
const checkpoint: JournalRecord = { at, type: "checkpoint", task: 1, path: "checkpoints/1.nut", description: "d" };
const used: JournalRecord = { at, type: "credential_used", name: "n", purpose: "p", agent: "e-1" };
const session: JournalRecord = { at, type: "agent_session", agent: "e-1", session: "s" };

/** The state after these, each of which must be in its place. */
function stateAfter(...records: JournalRecord[]): RunState {
  const state = emptyState();
  for (const record of records) {
    expect(misplaced(state, record), record.type).toBeNull();
    applyRecord(state, record);
  }
  return state;
}

const begun = [created, opened, planned];
const tried = [...begun, started("e-1"), ended];
const done = [...tried, merging, merged, completed];

describe("the order of records", () => {
  it("lets a whole run through", () => {
    stateAfter(
      ...begun,
      started("e-1"),
      session,
      used,
      ended,
      failed,
      started("a-2", { purpose: "diagnose" }),
      diagnosed,
    );
    stateAfter(...tried, failed, asked, answered, started("e-2"));
    stateAfter(...tried, added(3, 1), started("e-3", { task: 3 }));
    stateAfter(...done, checkpoint, accepted(1), delivered, closed);
    stateAfter(created, opened, started("lead-1", { task: 0, purpose: "plan" }), planned, planned, {
      at,
      type: "reviewed",
    });
    stateAfter(
      ...begun,
      { at, type: "paused", reason: "r", message: "m", hint: "h", ms: 1 },
      { at, type: "continued" },
    );
    stateAfter(...begun, { at, type: "issue", message: "m", task: 0 });
  });

  it.each<[string, JournalRecord[], JournalRecord, string]>([
    ["anything before the beginning", [], opened, "a journal begins with what created it, once"],
    ["a second beginning", [created], created, "a journal begins with what created it, once"],
    ["a second opening", [created, opened], opened, "the request was opened before"],
    ["a plan before the opening", [created], planned, "the request was not opened before it"],
    ["a plan after work began", tried, planned, "tasks were begun before it"],
    [
      "a plan that could never end",
      [created, opened],
      { at, type: "planned", plan: { ...plan, tasks: [{ ...task(1), deps: [9] }] } },
      "task 1 waits for task 9, which does not exist",
    ],
    ["a review without a plan", [created, opened], { at, type: "reviewed" }, "there is no plan yet"],
    ["an agent twice", [...begun, started("e-1")], started("e-1"), "e-1 was started before"],
    ["an agent for no task", begun, started("e-1", { task: 9 }), "there is no task 9"],
    ["an agent for a finished task", done, started("e-2"), "task 1 is completed there"],
    ["a diagnosis of what did not fail", begun, started("a-1", { purpose: "diagnose" }), "task 1 is pending there"],
    ["an agent in a tree to come", begun, started("e-1", { base: 1 }), "it starts from a tree that is not there yet"],
    ["the end of a stranger", begun, ended, "e-1 is not at work"],
    ["an end twice", tried, ended, "e-1 is not at work"],
    ["a session after the end", tried, session, "e-1 is not at work"],
    ["a hand-out after the end", tried, used, "e-1 is not at work"],
    [
      "an end of another task",
      [...begun, started("e-1")],
      { ...ended, task: 2 } as JournalRecord,
      "e-1 worked on another task",
    ],
    ["a merge before the end", [...begun, started("e-1")], merging, "task 1 is running there"],
    ["a merge by a stranger", tried, { ...merging, agent: "e-9" } as JournalRecord, "e-9 did not do the task"],
    ["a merge that was not begun", tried, merged, "task 1 is ended there"],
    ["a completion before the merge", [...tried, merging], completed, "task 1 is merging there"],
    ["a completion twice", done, completed, "task 1 is completed there"],
    ["a failure while it is merged", [...tried, merging], failed, "task 1 is merging there"],
    ["a diagnosis twice", [...tried, failed, diagnosed], diagnosed, "task 1 is pending there"],
    ["a question about what did not fail", tried, asked, "task 1 is ended there"],
    ["an answer nobody asked for", tried, answered, "task 1 is ended there"],
    ["a checkpoint of what is not done", tried, checkpoint, "task 1 is ended there"],
    ["a task that is there", tried, added(2, 1), "task 2 is there already"],
    ["a task before the plan", [created, opened], added(2), "there is no plan yet"],
    ["a merge task for what did not end", begun, added(3, 1), "task 1 is pending there"],
    ["an acceptance of another tree", done, accepted(0), "it speaks of another tree"],
    ["a delivery of what was not accepted", done, delivered, "nothing was accepted before it"],
    [
      "a delivery of a tree that moved on",
      [...begun, accepted(0), started("e-1"), ended, merging, merged],
      delivered,
      "nothing was accepted before it",
    ],
    ["a close without a delivery", [...done, accepted(1)], closed, "nothing was delivered before it"],
    [
      "anything after the close",
      [...done, accepted(1), delivered, closed],
      { at, type: "issue", message: "m" },
      "the run was closed before it",
    ],
  ])("refuses %s", (_, before, record, words) => {
    expect(misplaced(stateAfter(...before), record)).toBe(words);
  });
});
