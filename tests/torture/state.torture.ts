import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { lockKills } from "../state/lock-trials.js";
import {
  canMount,
  fullDisk,
  isLinearizable,
  killAtSystemCalls,
  kills,
  lastDecision,
  lastTask,
  MUTATING,
  manyWriters,
  register,
} from "../state/trials.js";

const made: string[] = [];
const fresh = () => {
  const folder = mkdtempSync(join(tmpdir(), "nexus-torture-"));
  made.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

function verdict(what: string, counts: Record<string, number>): void {
  const said = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  console.log(`${what}: ${said.join(", ")}`);
}

describe("state", () => {
  it("8 processes × 1,250 adds: 0 lost, 0 duplicate ids, 0 failed", async () => {
    const found = await manyWriters(fresh(), 8, 1_250);
    verdict("8 processes × 1,250 adds", { adds: 10_000, ...found });
    expect(found).toEqual({ failed: 0, lost: 0, duplicateIds: 0, duplicateAnswers: 0 });
  });

  it("1,000 kills: 0 acknowledged changes lost, 0 torn, the next operation within a second", async () => {
    const found = await kills(fresh(), 1_000);
    const { lost, torn, twice, slowestMs } = found;
    verdict("1,000 kills", { ...found, slowestMs: Math.round(slowestMs) });
    expect({ lost, torn, twice }).toEqual({ lost: 0, torn: 0, twice: 0 });
    expect(slowestMs).toBeLessThan(1_000);
  });

  it.each(MUTATING)("killed at every mutating system call of $tool", async (call) => {
    const { tried, wrong } = await killAtSystemCalls(call);
    verdict(`killed at system calls of ${call.tool}`, { points: tried, wrong: wrong.length });
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(5);
  });

  it.skipIf(!canMount())("a disk that is full at each 4 KiB", async () => {
    const { refused, done, wrong } = await fullDisk(Array.from({ length: 64 }, (_, blocks) => blocks));
    verdict("full disk, 64 steps", { refused, done, wrong: wrong.length });
    expect(wrong).toEqual([]);
  });

  it.each([
    ["decisions", lastDecision],
    ["tasks", lastTask],
  ])("looks like one after the other: %s", async (what, kept) => {
    let histories = 0;
    for (; histories < 20; histories += 1) expect(isLinearizable(await register(fresh(), 6, 40, kept))).toBe(true);
    verdict(`one after the other, ${what}`, { histories, operations: histories * 6 * 40 });
  });

  it.each(["files", "mixed"] as const)("locks, %s: 300 kills, nothing counted twice", async (kinds) => {
    const { counted, twice } = await lockKills(fresh(), 8, 300, kinds);
    verdict(`locks, ${kinds}, 300 kills`, { counted, twice });
    expect(twice).toBe(0);
  });
});
