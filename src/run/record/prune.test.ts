import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runFolder } from "./folder.js";
import { type PruneRules, runsToRemove, sweepTrash, trimDelivered } from "./prune.js";

const day = (n: number) => Date.UTC(2026, 0, n);
const finished = [1, 2, 3, 4].map((n) => ({ createdAt: day(n), bytes: 100 }));
const days = (rules: PruneRules) => runsToRemove(finished, rules).map(({ createdAt }) => new Date(createdAt).getDate());

describe("of four finished runs", () => {
  it.each<[string, PruneRules, number[]]>([
    ["none goes without a rule", {}, []],
    ["those before a time go", { before: new Date(day(3)) }, [1, 2]],
    ["the oldest go until the rest fits", { maxBytes: 250 }, [1, 2]],
    ["all go when nothing fits", { maxBytes: 0 }, [1, 2, 3, 4]],
    ["all but the latest go", { keep: 1 }, [1, 2, 3]],
    ["none goes when more may stay than there are", { keep: 9 }, []],
    ["the latest stay, however old", { before: new Date(day(9)), keep: 3 }, [1]],
    ["the latest stay, however large", { maxBytes: 0, keep: 2 }, [1, 2]],
    ["what is old makes room for the rest", { before: new Date(day(2)), maxBytes: 300 }, [1]],
  ])("%s", (_, rules, gone) => {
    expect(days(rules)).toEqual(gone);
  });
});

describe("a delivered run", () => {
  it.each([
    ["small", 1],
    ["large", 40],
  ])(
    "has no %s trees any more, and what a process of before left of others is removed, not what one is at",
    async (_, many) => {
      const runs = mkdtempSync(join(tmpdir(), "nut-trash-"));
      try {
        const folder = runFolder(runs, "one", true);
        for (const tree of [folder.base, folder.main, folder.homes])
          for (let n = 0; n < many; n += 1) mkdirSync(join(tree, `deep/er${n}`), { recursive: true });
        writeFileSync(folder.options, "{}");
        const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
        const before = timers();
        await trimDelivered(folder);
        // One that is left keeps the process.
        expect(timers()).toBeLessThanOrEqual(before);
        // Where a process is slow to start, the rest is removed behind us.
        await expect.poll(() => readdirSync(folder.root), { timeout: 20_000 }).toEqual(["run.json"]);
        const { pid } = spawnSync("true");
        const [left, busy] = [pid, process.pid].map((owner) => join(folder.root, `.trash-${owner}`)) as [
          string,
          string,
        ];
        for (const trash of [left, busy]) mkdirSync(join(trash, "repository"), { recursive: true });
        sweepTrash(runs);
        await expect.poll(() => existsSync(left), { timeout: 20_000 }).toBe(false);
        expect(existsSync(busy)).toBe(true);
      } finally {
        rmSync(runs, { recursive: true, force: true });
      }
    },
  );
});
