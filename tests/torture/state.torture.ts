import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  canMount,
  fileLockKills,
  fullDisk,
  isLinearizable,
  killAtSystemCalls,
  kills,
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

describe("state", () => {
  it("8 processes × 1,250 adds: 0 lost, 0 duplicate ids, 0 failed", async () => {
    expect(await manyWriters(fresh(), 8, 1_250)).toEqual({ failed: 0, lost: 0, duplicateIds: 0, duplicateAnswers: 0 });
  });

  it("1,000 kills: 0 acknowledged changes lost, 0 torn, the next operation within a second", async () => {
    const { lost, torn, slowestMs, acknowledged } = await kills(fresh(), 1_000);
    console.log(`${acknowledged} acknowledged, slowest ${slowestMs.toFixed(0)} ms`);
    expect({ lost, torn }).toEqual({ lost: 0, torn: 0 });
    expect(slowestMs).toBeLessThan(1_000);
  });

  it.each(MUTATING)("killed at every mutating system call of $tool", async (call) => {
    const { tried, wrong } = await killAtSystemCalls(call);
    console.log(`${call.tool}: ${tried} points`);
    expect(wrong).toEqual([]);
    expect(tried).toBeGreaterThan(5);
  });

  it.skipIf(!canMount())("a disk that is full at each 4 KiB", async () => {
    const { wrong } = await fullDisk(Array.from({ length: 64 }, (_, blocks) => blocks));
    expect(wrong).toEqual([]);
  });

  it("looks like one after the other", async () => {
    for (let round = 0; round < 20; round += 1) expect(isLinearizable(await register(fresh(), 6, 40))).toBe(true);
  });

  it("the lock without the kernel: 300 kills, nothing counted twice", async () => {
    expect((await fileLockKills(fresh(), 8, 300)).twice).toBe(0);
  });
});
