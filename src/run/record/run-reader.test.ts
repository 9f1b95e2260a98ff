import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JournalRecord } from "../../schema/journal.js";
import { createRun, type RunFolder, removeRun, runIds } from "./folder.js";
import { Journal } from "./journal.js";
import { findRun, hasPlan, listRuns } from "./list-runs.js";
import { lockRun } from "./lock.js";
import { RunReader } from "./run-reader.js";
import { cancelRun } from "./stop-run.js";

const at = "2026-01-01T00:00:00Z";
const digest = `sha256:${"0".repeat(64)}`;
const task = { id: 1, title: "t", context: "c", deps: [], owner: "engineer", kind: "work" } as const;
const created: JournalRecord = { at, type: "created", version: 3, run: "r" };
const opened: JournalRecord = { at, type: "opened", digest, base: digest };
const planned: JournalRecord = {
  at,
  type: "planned",
  plan: { source: "default", goal: "g", decisions: [], issues: [], tasks: [task] },
};
const paused: JournalRecord = { at, type: "paused", reason: "time", message: "time is up", hint: "h", ms: 1 };
const counts = { passed: 0, failed: 0, skipped: 0, unknown: 0, proven: 0 };
const finished: JournalRecord[] = [
  {
    at,
    type: "accepted",
    attempt: 1,
    versions: 0,
    report: {
      verdict: "passed",
      counts,
      results: [],
      changes: [],
      digests: { result: digest, tests: digest },
      compared: true,
      sandboxed: true,
      warnings: [],
    },
  },
  { at, type: "delivered", path: "/out.nut", hash: digest, status: "partial", ms: 1 },
  { at, type: "closed" },
];

let root: string;
let runs: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-runs-"));
  runs = join(root, ".nexus/state/nutcracker/runs");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function make(id: string, ...records: JournalRecord[]): RunFolder {
  const folder = createRun(runs, {
    id,
    created_at: at,
    title: "Say hello",
    request_id: "nut-1",
    request: "/request",
    driver: "demo",
    budget: { agentMs: 1, stallMs: 1, loop: 1 },
    review_plan: false,
    yes: false,
    force: false,
    output: "/out.nut",
  });
  const journal = new Journal(folder.journal);
  for (const record of records) journal.append(record);
  journal.close();
  return folder;
}

const status = (id: string) => {
  const { status: word, detail } = new RunReader(runs, id).read();
  return `${word}: ${detail}`;
};

describe("a run that is looked at", () => {
  it("can be given up before it wrote anything down", () => {
    cancelRun(make("killed"), new Date(at));
    expect(status("killed")).toBe("cancelled: a person cancelled the run");
  });

  it("says what became of it", () => {
    make("a", created, opened, planned);
    make("b", created, opened, planned, paused);
    make("c", created, opened, planned, paused, { at, type: "continued" });
    make("d", created, opened, planned, ...finished);
    expect(["a", "b", "c", "d"].map(status)).toEqual([
      "interrupted: it was killed",
      "paused: time is up",
      "interrupted: it was killed",
      "delivered: partial",
    ]);
    const busy = make("e", created, opened, planned, paused);
    const lock = lockRun(busy);
    expect(status("e")).toBe("running: ");
    expect(() => lockRun(busy)).toThrow(/being worked on/);
    lock.release();
    expect(status("e")).toBe("paused: time is up");
  });

  it("is listed with its tasks and its delivery", () => {
    make("a", created, opened, planned, ...finished);
    expect(listRuns(runs)).toEqual([
      {
        id: "a",
        title: "Say hello",
        driver: "demo",
        status: "delivered",
        detail: "partial",
        created_at: at,
        tasks: { total: 1, completed: 0 },
        delivery: "/out.nut",
      },
    ]);
  });

  it("is the one a person means", () => {
    make("20260101-a", created, opened, planned, paused);
    make("20260102-b", created, opened, planned);
    make("20260103-c", created, opened, planned, ...finished);
    expect(findRun(runs, undefined)).toBe("20260102-b");
    expect(findRun(runs, "20260101")).toBe("20260101-a");
    expect(() => findRun(runs, "2026")).toThrow('"2026" fits 3 runs');
    expect(() => findRun(runs, "x")).toThrow('there is no run "x" here');
  });

  it("tells whether it got as far as a plan, and goes without a trace", () => {
    const folder = make("a", created, opened);
    expect(hasPlan(folder)).toBe(false);
    expect(hasPlan(make("b", created, opened, planned))).toBe(true);
    removeRun(folder);
    expect(runIds(runs)).toEqual(["b"]);
  });
});

it.skipIf(!existsSync("/proc/self/fd"))(
  "is asked whether somebody works on it as often as one likes, and no file stays open",
  () => {
    const folder = createRun(runs, {
      ...{ id: "20260101-000000-ffff", created_at: at, title: "T", request_id: "nut-1", request: "/r", driver: "demo" },
      ...{ budget: { agentMs: 1, stallMs: 1, loop: 1 }, review_plan: false, yes: false, force: false, output: "/d" },
    });
    const reader = new RunReader(runs, folder.id);
    const open = () => readdirSync("/proc/self/fd").length;
    const ask = () => Array.from({ length: 20 }, () => reader.isBusy);
    const lock = lockRun(folder);
    const before = open();
    expect(new Set(ask())).toEqual(new Set([true]));
    lock.release();
    expect(new Set(ask())).toEqual(new Set([false]));
    expect(open()).toBeLessThanOrEqual(before);
  },
);
