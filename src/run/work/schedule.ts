// Which tasks to start now. Pure: what is done, what runs, what is allowed → the next starts.

import type { RunTask } from "../../schema/run.js";
import { pathsOverlap } from "../plan/paths.js";

export interface ScheduleFacts {
  readonly tasks: readonly RunTask[];
  readonly done: ReadonlySet<number>;
  /** Neither done nor to be started: running, waiting for a merge, failed for good. */
  readonly busy: ReadonlySet<number>;
  readonly running: readonly RunTask[];
  readonly jobs: number;
  /** Whether a role may change files. */
  readonly writes: (owner: string) => boolean;
}

/** Ready tasks in plan order, as many as there is room for, never two writers whose files may overlap. */
export function nextTasks({ tasks, done, busy, running, jobs, writes }: ScheduleFacts): RunTask[] {
  const started: RunTask[] = [];
  const writers = running.filter(({ owner }) => writes(owner));
  for (const task of tasks) {
    if (running.length + started.length >= jobs) break;
    if (done.has(task.id) || busy.has(task.id)) continue;
    if (!task.deps.every((dep) => done.has(dep))) continue;
    if (writes(task.owner)) {
      if (writers.some((other) => mayOverlap(task, other))) continue;
      writers.push(task);
    }
    started.push(task);
  }
  return started;
}

/** Whether two tasks could touch the same file. A task that does not say which files it changes may touch any. */
export function mayOverlap(a: RunTask, b: RunTask): boolean {
  if (a.files === undefined || b.files === undefined) return true;
  return a.files.some((one) => b.files!.some((other) => pathsOverlap(one, other)));
}
