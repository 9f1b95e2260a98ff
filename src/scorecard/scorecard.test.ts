import { describe, expect, it } from "vitest";
import type { TryResult } from "../schema/scorecard.js";
import { bestOf, isSolved, rowsOf, scorecardPage, wilson } from "./index.js";

const result = (fields: Partial<TryResult>): { result: TryResult } => ({
  result: {
    outcome: "completed",
    final: true,
    why: "",
    criteria: { total: 2, passed: 2, failed: 0, proven: 2 },
    checklist: { total: 0, passed: 0 },
    review: null,
    tokens: 0,
    cost_usd: 0,
    ms: 1,
    sessions: 1,
    files: 1,
    lines: 1,
    delivery: "x.nut",
    ...fields,
  },
});

describe("figures", () => {
  it("are Wilson's, as published", () => {
    const { low, high } = wilson(8, 10);
    expect(low).toBeCloseTo(0.4902, 4);
    expect(high).toBeCloseTo(0.9433, 4);
    expect(wilson(0, 5)).toEqual({ low: 0, high: expect.closeTo(0.4345, 4) });
    expect(wilson(5, 5)).toEqual({ low: expect.closeTo(0.5655, 4), high: 1 });
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  });

  it("count a request for noop and oracle when every criterion passes, for others when it is completed", () => {
    const guards = result({ outcome: "failed", criteria: { total: 2, passed: 2, failed: 0, proven: 0 } }).result;
    const half = result({ outcome: "partial", criteria: { total: 2, passed: 1, failed: 1, proven: 1 } }).result;
    const none = result({ outcome: "partial", criteria: { total: 0, passed: 0, failed: 0, proven: 0 } }).result;
    expect([guards, half, none, result({}).result].map((each) => isSolved(true, each))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect([guards, half, none, result({}).result].map((each) => isSolved(false, each))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it("call best what the rule says, in its order", () => {
    const order = [
      result({ lines: 3, tokens: 5, cost_usd: 1 }),
      result({ lines: 2, tokens: 5, cost_usd: 2 }),
      result({ lines: 2, tokens: 4 }),
      result({ lines: 1, tokens: 5 }),
      result({ lines: 2 }),
      result({ lines: 2, ms: 2 }),
      result({ criteria: { total: 2, passed: 2, failed: 0, proven: 1 } }),
      result({ outcome: "partial", cost_usd: 0.01 }),
    ];
    for (const [at, each] of order.entries()) {
      expect(bestOf([...order.slice(at)].reverse()), String(at)).toBe(each);
    }
    expect(bestOf([result({ outcome: "failed" }), result({ delivery: undefined })])).toBe(null);
  });

  it("count only what has ended, and escape what others wrote", () => {
    const tries = [result({}), result({ outcome: "paused", final: false }), result({ outcome: "failed", ms: 3 })].map(
      (each, at) => ({
        version: 1 as const,
        request: "<b>",
        digest: `sha256:${"0".repeat(64)}`,
        contender: "a",
        program: "a",
        trial: at + 1,
        run: "r",
        ...each,
      }),
    );
    const rows = rowsOf([{ label: "a", standIn: false }], tries);
    expect(rows[0]).toMatchObject({
      tries: 2,
      solved: 1,
      rate: 0.5,
      unfinished: 1,
      median_ms: 2,
      cost_per_solved_usd: null,
    });
    const page = scorecardPage({ title: "<i>", about: [], rows, requests: ["<b>"], tries, warnings: ["<script>"] });
    expect(page).not.toMatch(/<[bi]>|<script>/);
  });
});
