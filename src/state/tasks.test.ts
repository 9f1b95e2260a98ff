import { describe, expect, it } from "vitest";
import type { Task } from "../schema/tasks.js";
import { neverReady, summarize } from "./tasks.js";

const task = (id: number, deps: number[] = [], status: Task["status"] = "pending"): Task => ({
  id,
  title: `t${id}`,
  context: "c",
  status,
  deps,
});

describe("summarize", () => {
  it("frees a task when everything it waits for is done", () => {
    expect(summarize([task(1, [], "completed"), task(2, [1]), task(3, [2]), task(4, [], "in_progress")])).toEqual({
      total: 4,
      completed: 1,
      pending: 2,
      blocked: 1,
      ready: [2],
    });
  });
});

describe("neverReady", () => {
  it("names what waits for itself, for nothing, or in a circle", () => {
    expect(
      neverReady([task(1, [1]), task(2, [3]), task(3, [2]), task(4, [9]), task(5, [2]), task(6), task(7, [6])]),
    ).toEqual([
      { id: 1, why: "depends on itself" },
      { id: 2, why: "waits in a circle, or for a task that can never be ready" },
      { id: 3, why: "waits in a circle, or for a task that can never be ready" },
      { id: 4, why: "depends on 9, which does not exist" },
      { id: 5, why: "waits in a circle, or for a task that can never be ready" },
    ]);
  });

  it("says nothing about work that is done or only waits its turn", () => {
    expect(neverReady([task(1, [1], "completed"), task(2, [1]), task(3, [2])])).toEqual([]);
  });

  it("takes a chain of ten thousand in its stride", () => {
    const chain = Array.from({ length: 10_000 }, (_, i) => task(i + 1, i === 0 ? [] : [i]));
    expect(neverReady(chain)).toEqual([]);
    expect(neverReady(chain.toReversed())).toEqual([]);
  });
});
