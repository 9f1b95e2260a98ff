import { describe, expect, it } from "vitest";
import { type PruneRules, runsToRemove } from "./prune.js";

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
