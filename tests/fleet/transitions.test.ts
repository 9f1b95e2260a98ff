// Every way a job's record may change, and every way it may not.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jobId } from "../../src/fleet/job-id.js";
import { consumerName, readSubject, servable, workSubject } from "../../src/fleet/names.js";
import { liesUnder } from "../../src/fleet/request-place.js";
import {
  cancel,
  checkpointed,
  claim,
  deliver,
  failed,
  handBack,
  MOST_DEATHS,
  refused,
  retry,
} from "../../src/fleet/transitions.js";
import { FLEET_VERSION, Job } from "../../src/schema/fleet.js";

const at = "2026-03-14T10:00:00Z";
const sum = "0".repeat(64);
const fresh: Job = Job.parse({
  version: FLEET_VERSION,
  id: "0".repeat(24),
  created_at: at,
  updated_at: at,
  title: "t",
  request: { sha256: sum, size: 1 },
  labels: [],
  priority: "normal",
  budget: [],
  state: "queued",
  turn: 1,
  fence: 0,
  deaths: 0,
  tried: [],
});
const asked = { worker: "w1", at, turn: 1, seq: 7, isHolderGone: true };
const taken = (job: Job | null, more: object = {}): Job => {
  const decided = claim(job, { ...asked, ...more });
  if (decided.kind !== "taken") throw new Error(`${decided.kind}: ${"why" in decided ? decided.why : ""}`);
  return decided.job;
};
const result = (fence: number, sha256 = sum) => ({
  ...{ sha256, size: 1, status: "completed", worker: "w1", fence, at, tokens: 0, cost_usd: 0 },
});
const checkpoint = { run: "r-1", list: sum, records: 3, at };

describe("a ticket", () => {
  it("makes a queued job the worker's, with a number nobody had before", () => {
    expect(taken(fresh)).toMatchObject({ state: "running", fence: 1, deaths: 0, lease: { worker: "w1", seq: 7 } });
    expect(taken(handBack(taken(fresh), 1, at), { worker: "w2" })).toMatchObject({ fence: 2, deaths: 0 });
  });

  it("given out again means that its holder went silent", () => {
    const second = taken(taken(fresh), { worker: "w2", at: "2026-03-14T10:01:00Z" });
    expect(second).toMatchObject({ fence: 2, deaths: 1, lease: { worker: "w2" } });
    expect(second.tried).toEqual([{ worker: "w1", why: "it went silent", at: "2026-03-14T10:01:00Z" }]);
  });

  it("of a claim whose answer was lost is the same claim", () => {
    const job = taken(fresh);
    expect(claim(job, asked)).toEqual({ kind: "taken", job });
  });

  it.each([
    ["a delivered job", deliver(taken(fresh), 1, result(1)), "over"],
    ["a cancelled job", cancel(fresh, "no", at), "over"],
    ["a job that was queued again", { ...fresh, turn: 2 }, "over"],
    ["a record that lags behind", { ...fresh, turn: 0 }, "later"],
    ["no record", null, "later"],
    ["a newer nexus", { ...fresh, version: FLEET_VERSION + 1 }, "later"],
  ])("of %s is not taken", (_, job, kind) => {
    expect(claim(job as Job | null, asked).kind).toBe(kind);
  });

  it("too many leaves the job with whom it was given to, while that ticket is there", () => {
    const job = taken(fresh);
    expect(claim(job, { ...asked, worker: "w2", seq: 8, isHolderGone: false })).toMatchObject({ kind: "over" });
    expect(claim(job, { ...asked, worker: "w2", seq: 8, isHolderGone: true }).kind).toBe("taken");
  });

  it(`sets a job aside that cost ${MOST_DEATHS} workers, and says which`, () => {
    let job = fresh;
    for (let n = 0; n < MOST_DEATHS; n += 1) job = taken(job, { worker: `w${n}`, at: `2026-03-14T10:0${n}:00Z` });
    const last = claim(job, { ...asked, worker: "w9", at: "2026-03-14T10:09:00Z" });
    expect(last).toMatchObject({ kind: "set-aside", job: { state: "dead", deaths: MOST_DEATHS } });
    expect(last.kind === "set-aside" && last.job.reason).toBe(
      "it cost 3 workers: w0 (it went silent), w1 (it went silent), w2 (it went silent)",
    );
  });
});

describe("a holder", () => {
  const held = taken(fresh);
  const twin = taken(held, { worker: "w2", at: "2026-03-14T10:01:00Z" });

  it.each([
    ["deliver", () => deliver(twin, 1, result(1))],
    ["store where it is", () => checkpointed(twin, 1, checkpoint)],
    ["hand the job back", () => handBack(twin, 1, at)],
    ["fail", () => failed(twin, 1, { why: "x", at })],
    ["set it aside", () => refused(twin, 1, { why: "x", at })],
  ])("whose number is old may not %s", (_, act) => {
    expect(act).toThrow(expect.objectContaining({ code: "FLEET_LEASE_LOST" }));
  });

  it.each([
    ["cancelled", cancel(held, "no", at)],
    ["gone", null],
    ["handed back", handBack(held, 1, at)],
  ])("of a job that is %s delivers nothing", (_, job) => {
    expect(() => deliver(job, 1, result(1))).toThrow(expect.objectContaining({ code: "FLEET_LEASE_LOST" }));
  });

  it("delivers once; said again it is the same record", () => {
    const done = deliver(checkpointed(held, 1, checkpoint), 1, result(1));
    expect(done).toMatchObject({ state: "delivered", result: { sha256: sum } });
    expect(done.lease ?? done.checkpoint).toBeUndefined();
    expect(deliver(done, 1, result(1))).toBe(done);
    expect(() => deliver(done, 1, result(1, "1".repeat(64)))).toThrow();
    expect(() => deliver(done, 2, result(2))).toThrow();
  });
});

describe("a person", () => {
  it("cancels as a whole or not at all", () => {
    const done = deliver(taken(fresh), 1, result(1));
    expect(() => cancel(done, "no", at)).toThrow(expect.objectContaining({ code: "FLEET_JOB_STATE" }));
    const gone = cancel(fresh, "no", at);
    expect(cancel(gone, "again", at)).toBe(gone);
  });

  it("tries again what was set aside, from its checkpoint, with a ticket of its own", () => {
    const dead = refused(checkpointed(taken(fresh), 1, checkpoint), 1, { why: "no key", at });
    expect(dead).toMatchObject({ state: "dead", reason: "no key" });
    const again = retry(dead, { at, budget: ["time=1h"] });
    expect(again).toMatchObject({ state: "queued", turn: 2, deaths: 0, checkpoint, budget: ["time=1h"] });
    expect(again.reason).toBeUndefined();
    expect(() => retry(fresh, { at })).toThrow(expect.objectContaining({ code: "FLEET_JOB_STATE" }));
  });
});

describe("whatever happens in whatever order", () => {
  it("gives a job at most one result, and every holder a number of its own", () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("claim"), worker: fc.nat(3), seq: fc.nat(2), gone: fc.boolean() }),
      fc.record({ do: fc.constantFrom("deliver", "back", "fail", "check", "refuse"), holder: fc.nat(5) }),
      fc.record({ do: fc.constantFrom("cancel", "retry") }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let job = fresh;
        const fences: number[] = [];
        const results = new Set<string>();
        for (const [index, one] of steps.entries()) {
          const now = new Date(Date.parse(at) + index * 1_000).toISOString();
          try {
            job = next(job, one as never, now, fences);
          } catch (error) {
            expect((error as { code?: string }).code).toMatch(/^FLEET_/);
          }
          if (job.result !== undefined) results.add(JSON.stringify(job.result));
        }
        expect(results.size).toBeLessThanOrEqual(1);
        expect(new Set(fences).size).toBe(fences.length);
        expect(Job.safeParse(job).success).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

type Step = { do: string; worker: number; seq: number; gone: boolean; holder: number };
function next(job: Job, step: Step, now: string, fences: number[]): Job {
  const fence = fences[step.holder] ?? 0;
  switch (step.do) {
    case "claim": {
      const decided = claim(job, {
        worker: `w${step.worker}`,
        at: now,
        turn: job.turn,
        seq: step.seq,
        isHolderGone: step.gone,
      });
      if (decided.kind === "taken") fences.push(decided.job.fence);
      return "job" in decided ? decided.job : job;
    }
    case "deliver":
      return deliver(job, fence, { ...result(fence), at: now, sha256: String(fence % 10).repeat(64) });
    case "back":
      return handBack(job, fence, now);
    case "fail":
      return failed(job, fence, { why: "x", at: now });
    case "check":
      return checkpointed(job, fence, { ...checkpoint, at: now });
    case "refuse":
      return refused(job, fence, { why: "x", at: now });
    case "cancel":
      return cancel(job, "no", now);
    default:
      return retry(job, { at: now });
  }
}

describe("names", () => {
  it("the same request asked for in the same way is one job", () => {
    const words = { request: sum, labels: ["b", "a", "a"], budget: ["time=1m"] };
    expect(jobId(words)).toBe(jobId({ ...words, labels: ["a", "b"] }));
    const others = [{ again: "x" }, { driver: "codex" }, { labels: [] }, { budget: [] }, { request: "1".repeat(64) }];
    expect(new Set(others.map((other) => jobId({ ...words, ...other })).concat(jobId(words))).size).toBe(6);
  });

  it("a worker sees what its labels allow, the urgent and the demanding first", () => {
    const all = [
      workSubject("low", []),
      workSubject("normal", ["gpu", "eu"]),
      workSubject("normal", []),
      workSubject("high", ["tpu"]),
    ];
    expect(
      servable([...all, "nut.work.odd.any", "other"], new Set(["gpu", "eu"])).map(({ subject }) => subject),
    ).toEqual(["nut.work.normal.eu+gpu", "nut.work.normal.any", "nut.work.low.any"]);
    expect(consumerName("nut.work.normal.eu+gpu")).toBe("normal-eu+gpu");
    expect(readSubject("nut.work.normal.any.more")).toBeNull();
  });

  it("a place is that place or below it, and nothing climbs", () => {
    const places = ["/srv/shared", "oci://host/team"];
    for (const at of ["/srv/shared/a.nut", "oci://host/team/x:v1", "oci://host/team:v1"])
      expect(liesUnder(at, places)).toBe(true);
    for (const at of ["/srv/shared/../etc/passwd", "/srv/shared-not/a.nut", "oci://host/teams/x", "/etc/passwd"])
      expect(liesUnder(at, places)).toBe(false);
  });
});
