import { describe, expect, it } from "vitest";
import type { RunTask } from "../../schema/run.js";
import { mayOverlap, nextTasks, type ScheduleFacts } from "./schedule.js";

const task = (id: number, extra: Partial<RunTask> = {}): RunTask => ({
  id,
  title: `t${id}`,
  context: "c",
  deps: [],
  owner: "engineer",
  kind: "work",
  ...extra,
});
const ask = (tasks: RunTask[], extra: Partial<ScheduleFacts> = {}) =>
  nextTasks({
    tasks,
    done: new Set(),
    busy: new Set(),
    running: [],
    jobs: 4,
    writes: (owner) => owner === "engineer",
    ...extra,
  }).map(({ id }) => id);

describe("schedule", () => {
  it("starts only what is ready, in plan order, as many as there are jobs", () => {
    const tasks = [1, 2, 3, 4].map((id) => task(id, { files: [`${id}.txt`] }));
    expect(ask(tasks, { jobs: 3 })).toEqual([1, 2, 3]);
    expect(ask(tasks, { busy: new Set([1, 2]), running: [tasks[0]!, tasks[1]!], jobs: 2 })).toEqual([]);
  });

  it("waits for everything a task depends on, also where there is room and no file in common", () => {
    const tasks = [1, 2, 3].map((id) => task(id, { files: [`${id}.txt`], deps: id === 3 ? [1, 2] : [] }));
    expect(ask(tasks)).toEqual([1, 2]);
    expect(ask(tasks, { done: new Set([1]) })).toEqual([2]);
    expect(ask(tasks, { done: new Set([1, 2]) })).toEqual([3]);
  });

  it("starts nothing twice: neither what runs nor what failed for good", () => {
    const readers = [1, 2, 3].map((id) => task(id, { owner: "reviewer" }));
    expect(ask(readers, { busy: new Set([1, 2]), running: [readers[0]!] })).toEqual([3]);
  });

  it("never runs two writers that may touch the same file", () => {
    expect(ask([task(1), task(2)])).toEqual([1]);
    expect(
      ask([task(1, { files: ["src/"] }), task(2, { files: ["src/a.ts"] }), task(3, { files: ["docs/"] })]),
    ).toEqual([1, 3]);
    expect(ask([task(2)], { running: [task(1)], busy: new Set([1]) })).toEqual([]);
  });

  it("lets writers of other files work side by side", () => {
    expect(mayOverlap(task(1, { files: ["a"] }), task(2, { files: ["b"] }))).toBe(false);
    expect(mayOverlap(task(1, { files: ["a"] }), task(2))).toBe(true);
  });

  it("runs readers beside a writer", () => {
    expect(ask([task(1), task(2, { owner: "reviewer" }), task(3, { owner: "tester" })])).toEqual([1, 2, 3]);
  });
});
