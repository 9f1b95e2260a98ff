// Bringing a finished task's change into the main tree: journal, apply, journal. Killed in between, it is applied again.

import type { RunTask } from "../../schema/run.js";
import { mergeChanges } from "../../trees/merge.js";
import type { Change } from "../../trees/tree.js";
import { putBack } from "../open/workspace.js";
import { mirrorTasks, taskStatus } from "../record/mirror.js";
import type { TaskState } from "../record/run-state.js";
import { type Run, record } from "../run.js";

/** Merges, or turns a conflict into a task. Callers take turns: two merges at once would not see each other. */
export async function integrate(run: Run, t: TaskState): Promise<void> {
  const last = t.last!;
  const merge = await mergeInto(run, last.changes, t.task);
  if (merge.conflicts.length > 0) {
    await addMergeTask(
      run,
      t,
      merge.conflicts.map(({ path }) => path),
    );
    return;
  }
  record(run, { type: "merging", task: t.task.id, agent: last.agent, changes: merge.changes });
  finishMerge(run, t);
}

export function mergeInto(run: Run, changes: readonly Change[], task: RunTask) {
  const labels = { ours: "finished tasks", theirs: `task ${task.id}` };
  return mergeChanges({
    changes,
    main: run.main,
    objects: run.objects,
    scratch: run.folder.scratch,
    env: run.context.env,
    labels,
  });
}

/** Applies what the journal says is being merged. Safe to repeat. */
export function finishMerge(run: Run, t: TaskState): void {
  const changes = t.merging ?? [];
  run.objects.apply(run.folder.main, changes);
  for (const { path, after } of changes) {
    if (after === null) run.main.entries.delete(path);
    else run.main.entries.set(path, after);
  }
  // What is as it was in the beginning is no part of a delta.
  if (run.folder.isDelta) putBack(run.folder, run.main, run);
  record(run, { type: "merged", task: t.task.id, agent: t.last!.agent });
}

/** What makes a task done: its change is in the main tree, and nothing in it broke a limit or a test. */
export function completeMerged(run: Run, t: TaskState): Promise<void> {
  const criteria = t.task.criteria === undefined ? "" : ", its criteria hold";
  return complete(run, t, `${t.merging?.length ?? 0} changes, no limit broken${criteria}`);
}

async function complete(run: Run, t: TaskState, evidence: string): Promise<void> {
  record(run, { type: "task_completed", task: t.task.id, evidence });
  await taskStatus(run.project, t.task.id, "completed", run.context.now());
  const tasks = [...run.state.tasks.values()];
  run.context.progress({
    type: "task_completed",
    task: t.task.id,
    evidence,
    completed: tasks.filter(({ status }) => status === "completed").length,
    tasks: tasks.length,
    message: `task ${t.task.id} done: ${t.task.title}`,
  });
  const parent = t.parent === undefined ? undefined : run.state.tasks.get(t.parent);
  if (parent !== undefined && isMerged(run, parent)) await completeConflict(run, parent);
}

/** Whether the task that brings a conflicting change in is done. Killed just after it, the conflict is still on record. */
export function isMerged({ state }: Pick<Run, "state">, { status, mergedBy }: TaskState): boolean {
  return status === "conflict" && state.tasks.get(mergedBy!)?.status === "completed";
}

export function completeConflict(run: Run, t: TaskState): Promise<void> {
  return complete(run, t, `merged by task ${t.mergedBy}`);
}

async function addMergeTask(run: Run, t: TaskState, paths: readonly string[]): Promise<void> {
  const task: RunTask = {
    id: 1 + Math.max(...run.state.tasks.keys()),
    title: `Merge: ${t.task.title}`,
    context: `Task ${t.task.id} ("${t.task.title}") and tasks finished meanwhile changed the same lines. The files hold both sides between markers.`,
    acceptance: "No conflict marker is left, and both changes keep their purpose.",
    deps: [],
    owner: t.task.owner,
    kind: "merge",
    files: [...new Set([...paths, ...t.last!.changes.map(({ path }) => path)])],
    ...(t.task.criteria === undefined ? {} : { criteria: t.task.criteria }),
  };
  record(run, { type: "task_added", task, for: t.task.id });
  record(run, {
    type: "issue",
    message: `conflict in ${paths.join(", ")}: task ${task.id} merges it`,
    task: t.task.id,
  });
  await mirrorTasks(run.project, run.state.plan!, run.state, run.context.now());
  run.context.progress({
    type: "task_added",
    task: task.id,
    for: t.task.id,
    paths,
    message: `task ${t.task.id} conflicts in ${paths.join(", ")}: task ${task.id} merges it`,
  });
}
