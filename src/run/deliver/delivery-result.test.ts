import { describe, expect, it } from "vitest";
import type { AcceptedReport, AgentEnd, AgentStart } from "../../schema/journal.js";
import type { Manifest } from "../../schema/manifest.js";
import type { RunTask } from "../../schema/run.js";
import { emptyState, type RunState, type TaskState } from "../record/run-state.js";
import { deliveryResult, strategy } from "./delivery-result.js";

const hash = (letter: string) => `sha256:${letter.repeat(64)}`;
const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z`;

const manifest: Manifest = {
  nutshell_version: "0.2.0",
  bundle_type: "request",
  id: "nut-1",
  task: { title: "Say hello" },
  acceptance: { checklist: ["it greets", "it is short"] },
};

type Result = AcceptedReport["results"][number];
const criterion = (id: string, more: Partial<Result> = {}): Result => ({
  id,
  type: "shell",
  status: "passed",
  evidence: "proven",
  ...more,
});

function report(results: readonly Result[], more: Partial<AcceptedReport> = {}): AcceptedReport {
  const count = (status: string) => results.filter((row) => row.status === status).length;
  return {
    verdict: count("failed") > 0 ? "failed" : "passed",
    counts: {
      passed: count("passed"),
      failed: count("failed"),
      skipped: count("skipped"),
      unknown: count("unknown"),
      proven: results.filter((row) => row.status === "passed" && row.proves_nothing !== true).length,
    },
    results,
    changes: [],
    digests: { result: hash("a"), tests: hash("b") },
    compared: true,
    sandboxed: true,
    warnings: [],
    ...more,
  };
}

const task = (id: number, more: Partial<TaskState> = {}, kind: RunTask["kind"] = "work"): TaskState => ({
  task: { id, title: `t${id}`, context: "c", deps: [], owner: "engineer", kind },
  status: "completed",
  failures: 0,
  problems: [],
  ...more,
});

const start = (agent: string, id: number): AgentStart => ({
  agent,
  task: id,
  role: "engineer",
  purpose: "work",
  mode: "fresh",
  reason: "",
  base: 0,
  slot: "slot-1",
});

const end = (agent: string, id: number, more: Partial<AgentEnd> = {}): AgentEnd => ({
  agent,
  task: id,
  outcome: "done",
  text: "done",
  ms: 1,
  usage: { tokens: 0, costUsd: 0 },
  changes: [],
  problems: [],
  tools: [],
  reported: true,
  decisions: [],
  issues: [],
  judgements: [],
  ...more,
});

const passed = ["it greets", "it is short"].map((item) => ({ item, status: "passed" as const, note: "seen" }));

/** A run in which everything went well: the work is done, a reviewer judged every point. */
function good(): RunState {
  const state = emptyState();
  state.requestDigest = hash("c");
  const review = end("reviewer-2", 2, { verdict: "pass", judgements: passed });
  const work = end("engineer-1", 1);
  state.tasks.set(1, task(1, { last: work }));
  state.tasks.set(2, task(2, { last: review }, "review"));
  state.agents.set("engineer-1", { ...start("engineer-1", 1), startedAt: at(1), end: work, endedAt: at(2) });
  state.agents.set("reviewer-2", { ...start("reviewer-2", 2), startedAt: at(3), end: review, endedAt: at(4) });
  return state;
}

const deliver = (
  state: RunState,
  accepted: AcceptedReport = report([criterion("AC-1")]),
  more: Partial<Manifest> = {},
) =>
  deliveryResult({
    run: "r1",
    manifest: { ...manifest, ...more },
    state,
    accepted,
    agent: { name: "scripted" },
    model: undefined,
    now: new Date(at(9)),
    isOwnTest: (path) => path.startsWith("tests/"),
  });

function review(state: RunState, more: Partial<AgentEnd>): RunState {
  const changed = { ...state.agents.get("reviewer-2")!.end!, ...more };
  state.agents.get("reviewer-2")!.end = changed;
  state.tasks.get(2)!.last = changed;
  return state;
}

describe("completed [P7]", () => {
  it("is what is backed on every side", () => {
    expect(deliver(good()).status).toBe("completed");
  });

  it.each<[string, () => RunState, AcceptedReport | undefined]>([
    [
      "a task is not done",
      () => {
        const state = good();
        state.tasks.get(1)!.status = "skipped";
        return state;
      },
      undefined,
    ],
    ["a criterion fails", good, report([criterion("AC-1"), criterion("AC-2", { status: "failed" })])],
    ["something is left open", good, report([criterion("AC-1")], { verdict: "incomplete" })],
    [
      "the review fails a point",
      () => review(good(), { judgements: [passed[0]!, { ...passed[1]!, status: "failed" }] }),
      undefined,
    ],
    [
      "the review cannot tell",
      () => review(good(), { judgements: [passed[0]!, { ...passed[1]!, status: "unknown" }] }),
      undefined,
    ],
    ["the review leaves a point out", () => review(good(), { judgements: [passed[0]!] }), undefined],
    ["nobody reviewed", () => review(good(), { judgements: [] }), undefined],
    [
      "the reviewer said no in a record without a verdict",
      () => review(good(), { verdict: undefined, text: "## Verdict: fail" }),
      undefined,
    ],
    [
      "only a tester judged it",
      () => {
        const state = good();
        const { task: own, ...rest } = state.tasks.get(2)!;
        state.tasks.set(2, { ...rest, task: { ...own, kind: "verify" } });
        return state;
      },
      undefined,
    ],
    ["the reviewer says no", () => review(good(), { verdict: "fail" }), undefined],
  ])("is not said when %s", (_, state, accepted) => {
    expect(deliver(state(), accepted).status).toBe("partial");
  });

  it("listens to the latest word of a task, and to it alone", () => {
    const state = good();
    const earlier = end("reviewer-0", 2, { verdict: "fail" });
    state.agents.set("reviewer-0", { ...start("reviewer-0", 2), startedAt: at(0), end: earlier, endedAt: at(1) });
    expect(deliver(state).status).toBe("completed");
    const words = end("architect-3", 2, { verdict: "fail" });
    state.agents.set("architect-3", { ...start("architect-3", 2), purpose: "diagnose", startedAt: at(5), end: words });
    expect(deliver(state).status).toBe("completed");
  });
});

describe("judgements", () => {
  const file = { path: "files/a", kind: "modified" as const, before: null, after: null };

  it("count for the tree they were made on", () => {
    const state = good();
    state.versions.push([]);
    expect(deliver(state).status).toBe("completed");
    state.versions.push([file]);
    expect(deliver(state)).toMatchObject({
      status: "partial",
      acceptance_results: { checklist: [{ status: "unknown" }, { status: "unknown" }] },
    });
    const again = end("reviewer-3", 3, { judgements: passed });
    state.tasks.set(3, task(3, { last: again }, "review"));
    state.agents.set("reviewer-3", {
      ...start("reviewer-3", 3),
      base: 2,
      startedAt: at(5),
      end: again,
      endedAt: at(6),
    });
    expect(deliver(state).status).toBe("completed");
    // What an older review said no to was looked at again; what a tester said no to was not.
    expect(deliver(review(state, { verdict: "fail" })).status).toBe("completed");
    state.tasks.set(2, { ...state.tasks.get(2)!, task: { ...state.tasks.get(2)!.task, kind: "verify" } });
    expect(deliver(state).status).toBe("partial");
  });

  it("of two who disagree end in no", () => {
    const state = good();
    const no = end("tester-3", 3, { judgements: [{ item: "it greets", status: "failed", note: "it does not" }] });
    const order = (...ids: number[]) => {
      const tasks = new Map([...state.tasks, [3, task(3, { last: no }, "verify")] as const]);
      state.tasks.clear();
      for (const id of ids) state.tasks.set(id, tasks.get(id)!);
    };
    state.agents.set("tester-3", { ...start("tester-3", 3), startedAt: at(5), end: no, endedAt: at(6) });
    for (const ids of [
      [1, 2, 3],
      [1, 3, 2],
    ]) {
      order(...ids);
      expect(deliver(state).acceptance_results?.checklist?.[0]).toMatchObject({
        status: "failed",
        note: "it does not",
      });
    }
  });
});

describe("less than completed", () => {
  it("is partial when something is proven, or work was done and nothing fails", () => {
    const state = good();
    state.tasks.get(1)!.status = "skipped";
    expect(deliver(state, report([criterion("AC-1"), criterion("AC-2", { status: "failed" })])).status).toBe("partial");
    const nothing = report([], { verdict: "incomplete" });
    expect(deliver(good(), nothing).status).toBe("partial");
  });

  it("is failed when nothing is proven and something fails, or nothing was done", () => {
    expect(deliver(good(), report([criterion("AC-1", { status: "failed" })])).status).toBe("failed");
    const state = good();
    state.tasks.get(1)!.status = "skipped";
    expect(deliver(state, report([], { verdict: "incomplete" })).status).toBe("failed");
  });

  it("is blocked when an agent said what stands in the way and nothing was done", () => {
    const state = good();
    Object.assign(state.tasks.get(1)!, { status: "skipped", problems: ["blocked: no access"] });
    expect(deliver(state, report([criterion("AC-1", { status: "failed" })])).status).toBe("blocked");
    state.tasks.get(1)!.status = "completed";
    expect(deliver(state, report([criterion("AC-1", { status: "failed" })])).status).toBe("failed");
  });

  it("counts what was proven, and not what proves nothing", () => {
    const idle = criterion("AC-2", { proves_nothing: true });
    const percent = (...results: Result[]) => deliver(good(), report(results)).completion_percentage;
    expect(percent(criterion("AC-1"), criterion("AC-3", { status: "failed" }), idle)).toBe(50);
    const open = { verdict: "incomplete" as const };
    expect(deliver(good(), report([idle], open)).completion_percentage).toBe(0);
    expect(deliver(good(), report([], open)).completion_percentage).toBeUndefined();
    expect(percent(criterion("AC-1"), idle)).toBe(100);
  });

  it("is never all of it, whichever checks pass", () => {
    const state = good();
    state.tasks.get(1)!.status = "skipped";
    expect(deliver(state, report([criterion("AC-1")]))).toMatchObject({ status: "partial", completion_percentage: 99 });
  });
});

describe("what no run can prove", () => {
  const idle = criterion("AC-1", { proves_nothing: true });
  const guards = report([idle], { verdict: "incomplete", guardsOnly: true, forPerson: [], awaitsJudgement: true });
  const person = criterion("AC-2", { status: "unknown", evidence: undefined });

  it("is completed by guards that hold and a judged checklist, and says so", () => {
    const { status, summary } = deliver(good(), guards);
    expect(status).toBe("completed");
    expect(summary).toMatch(
      /Nothing in it could be proven by a run: what guards holds, and the checklist was judged\.$/,
    );
  });

  it("is not completed without a checklist, against the reviewer, or when nothing was changed", () => {
    const none = deliver(good(), guards, { acceptance: {} });
    expect(none).toMatchObject({ status: "partial" });
    expect(none.summary).toMatch(/Missing: there is no checklist to judge it by\.$/);
    const no = deliver(review(good(), { verdict: "fail" }), guards);
    expect(no).toMatchObject({ status: "partial" });
    expect(no.summary).toMatch(/Missing: a tester or reviewer says no\.$/);
    const same = deliver(good(), { ...guards, awaitsJudgement: false });
    expect(same).toMatchObject({ status: "partial" });
    expect(same.summary).toMatch(/Missing: nothing that was run shows the work\.$/);
  });

  it("waits for a person where the request asks for one; nobody calls that skipped", () => {
    const waits = report([criterion("AC-1"), person], {
      verdict: "incomplete",
      counts: { passed: 1, failed: 0, skipped: 0, unknown: 1, proven: 1 },
      forPerson: ["AC-2"],
      awaitsJudgement: true,
    });
    const { status, summary, acceptance_results: results } = deliver(good(), waits);
    expect(status).toBe("partial");
    expect(summary).toMatch(/Missing: 1 criterion for a person to judge\.$/);
    expect(results).toMatchObject({ tests_passed: 1, tests_skipped: 0, tests_for_person: 1 });
  });

  it("is answered by the criterion that says the same", () => {
    const state = review(good(), { judgements: [passed[1]!] });
    const proven = criterion("AC-1", { description: "it greets", evidence: "proven" });
    const { status, acceptance_results: results } = deliver(state, report([proven]));
    expect(status).toBe("completed");
    expect(results?.checklist?.[0]).toEqual({
      item: "it greets",
      status: "passed",
      evidence: "proven",
      note: "criterion AC-1",
    });
    const recorded = criterion("AC-1", { description: "it greets", evidence: "recorded" });
    expect(deliver(state, report([recorded])).status).toBe("partial");
    const no = { item: "it greets", status: "failed" as const, note: "it does not" };
    expect(deliver(review(state, { judgements: [no, passed[1]!] }), report([proven])).status).toBe("partial");
  });
});

describe("a delivery", () => {
  it("names the request, the tree and the tests the acceptance ran on", () => {
    expect(deliver(good()).digests).toEqual({ request: hash("c"), result: hash("a"), tests: hash("b") });
  });

  it("gives every point of the checklist a status and says who judged it", () => {
    const rows = deliver(review(good(), { judgements: [passed[0]!] })).acceptance_results?.checklist;
    expect(rows).toEqual([
      { item: "it greets", status: "passed", evidence: "judged", note: "seen" },
      { item: "it is short", status: "unknown", note: "nobody judged it" },
    ]);
  });

  it("has the same id whenever it is made from the same run", () => {
    expect(deliver(good()).id).toBe(deliver(good()).id);
    expect(deliver(good()).id).toMatch(/^nut-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  });

  it("lists files that changed, but none of the request's own tests", () => {
    const change = { lines: 3, diffLines: 2 };
    const { artifacts } = deliver(
      good(),
      report([criterion("AC-1")], {
        changes: [
          { path: "files/new.txt", kind: "created", ...change },
          { path: "files/old.txt", kind: "modified", ...change },
          { path: "files/gone.txt", kind: "deleted", ...change },
          { path: "files/link", kind: "created", ...change, link: true, target: "new.txt" },
          { path: "files/out", kind: "created", ...change, link: true },
          { path: "files/spool", kind: "created", ...change, folder: true },
          { path: "tests/hello.sh", kind: "modified", ...change },
        ],
      }),
    );
    expect(artifacts).toEqual({
      files_created: [{ path: "delivery/artifacts/files/new.txt", lines: 3 }],
      files_modified: [{ path: "delivery/artifacts/files/old.txt", diff_lines: 2 }],
      files_deleted: [{ path: "files/gone.txt" }],
      links: [{ path: "files/link", target: "new.txt" }],
      folders: [{ path: "files/spool" }],
    });
  });

  it("tells which credentials were used, each once", () => {
    const state = good();
    for (const agent of ["a", "b"])
      state.credentials.push({ name: "api", at: at(agent === "a" ? 1 : 2), purpose: "p" });
    expect(deliver(state).execution_log?.credentials_used).toEqual([{ name: "api", at: at(2), purpose: "p" }]);
  });

  it("tells what it cost, in tokens and money, and how many sessions", () => {
    const state = good();
    state.spent = { ms: 5, tokens: 70, costUsd: 0.5 };
    state.agents.get("reviewer-2")!.session = "s";
    expect(deliver(state).deliverer).toEqual({
      name: "scripted",
      sessions_used: 2,
      total_tokens: 70,
      total_cost_usd: 0.5,
    });
  });

  it("says whether agents worked at once, one after the other, or in one go", () => {
    const state = good();
    expect(strategy(state)).toBe("one-shot");
    state.tasks.set(3, task(3));
    expect(strategy(state)).toBe("incremental");
    state.agents.set("engineer-4", { ...start("engineer-4", 3), startedAt: at(1), endedAt: at(3) });
    expect(strategy(state)).toBe("parallel");
  });
});
