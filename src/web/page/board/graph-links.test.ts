import { describe, expect, it } from "vitest";
import type { TaskStage } from "../../board/model.js";
import { criticalPath, related } from "./graph-links.js";

const task = (id: number, deps: number[], stage: TaskStage = "waiting") => ({ id, deps, stage });

describe("a graph of tasks", () => {
  it("lights what a task needs and what waits for it, and nothing beside", () => {
    const rows = [task(1, []), task(2, [1]), task(3, [2]), task(4, [1]), task(5, [])];
    expect([...related(rows, 2)].sort()).toEqual([1, 2, 3]);
    expect([...related(rows, 5)]).toEqual([5]);
  });

  it("finds the longest chain of what is not done", () => {
    const rows = [task(1, [], "done"), task(2, [1], "running"), task(3, [2]), task(4, [3]), task(5, [1], "ready")];
    expect(criticalPath(rows)).toEqual([2, 3, 4]);
    expect(criticalPath([task(1, [], "done"), task(2, [1], "ready")])).toEqual([]);
  });

  it("ends on rings and unknown tasks", () => {
    const rows = [task(1, [2]), task(2, [1]), task(3, [99]), task(4, [3])];
    expect(criticalPath(rows)).toEqual([3, 4]);
    expect([...related(rows, 1)].sort()).toEqual([1, 2]);
  });
});
