// The run as the common state files show it: plan, tasks, tracker, edits. The journal is what the run believes; these
// files are for agents and people, and are put right whenever they disagree.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Cycle } from "../../schema/history.js";
import type { RunPlan, RunTask } from "../../schema/run.js";
import {
  closeCycle,
  cycleIdentity,
  decidePlan,
  extensionFile,
  historyFile,
  type Project,
  planFile,
  startPlan,
  tasksFile,
  updateTask,
} from "../../state/index.js";
import type { RunState } from "./run-state.js";

const LINK = "every task of the run";

/** Writes plan.json and tasks.json as the plan has them. Doing it again changes nothing. */
export async function mirrorPlan(project: Project, plan: RunPlan, state: RunState, now: Date): Promise<void> {
  if (project.store.read(planFile) === null) {
    const issues = plan.issues.length > 0 ? plan.issues : [{ title: plan.goal, decision: LINK }];
    const titles = issues.map(({ title }) => title);
    await startPlan(project, { topic: plan.goal, issues: titles, research_summary: `plan: ${plan.source}` }, now);
    for (const [index, { decision }] of issues.entries()) {
      if (decision !== undefined) await decidePlan(project, { issue_id: index + 1, decision });
    }
  }
  await mirrorTasks(project, plan, state, now);
}

/** One write for all tasks, with the status the journal knows. */
export async function mirrorTasks(project: Project, plan: RunPlan, state: RunState, now: Date): Promise<void> {
  await project.store.update((change) => {
    const before = change.open(tasksFile);
    const kept = new Map((before?.tasks ?? []).map((task) => [task.id, task]));
    const tasks = [...state.tasks.values()].map(({ task, status }) => ({
      ...contractTask(task),
      created_at: kept.get(task.id)?.created_at ?? now.toISOString(),
      status: statusFor(status),
    }));
    const goal = plan.goal === "" ? "run" : plan.goal;
    change.write(tasksFile, { goal, decisions: [...plan.decisions], tasks } as never);
    const extensions = [...state.tasks.values()].map(({ task }) => ({
      task_id: task.id,
      kind: task.kind,
      ...(task.files === undefined ? {} : { files: task.files }),
      ...(task.criteria === undefined ? {} : { criteria: task.criteria }),
    }));
    change.write(extensionFile("tasks"), { extends: "tasks.json", task_extensions: extensions });
  });
}

function contractTask(task: RunTask): Record<string, unknown> {
  const { kind: _kind, files: _files, criteria: _criteria, id, title, context, approach, acceptance, risk } = task;
  const fields = {
    id,
    title,
    context,
    approach,
    acceptance,
    risk,
    deps: [...task.deps],
    plan_issue: task.plan_issue,
    owner: task.owner,
    owner_reuse_policy: task.owner_reuse_policy,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function statusFor(status: string): "pending" | "in_progress" | "completed" {
  if (status === "completed") return "completed";
  return status === "pending" || status === "skipped" ? "pending" : "in_progress";
}

export async function taskStatus(
  project: Project,
  id: number,
  status: "pending" | "in_progress" | "completed",
  now: Date,
): Promise<void> {
  await updateTask(project, { id, status }, now);
}

/** Tasks whose state someone else moved. In a run only the harness's own check completes a task. */
export function movedTasks(project: Project, state: RunState): { readonly id: number; readonly status: string }[] {
  const file = project.store.read(tasksFile);
  if (file === null) return state.tasks.size === 0 ? [] : [{ id: 0, status: "gone" }];
  return file.tasks.filter(({ id, status }) => {
    const own = state.tasks.get(id);
    // "in_progress" is set around a try, so only a completion or an unknown task tells of another hand.
    return own === undefined || (status === "completed") !== (own.status === "completed");
  });
}

/** Archives the cycle in the run's own history and once in the project's, whatever was archived before a crash. */
export async function closeIntoHistory(project: Project, outer: Project, now: Date): Promise<void> {
  const open = project.store.read(planFile) !== null || project.store.read(tasksFile) !== null;
  if (open) await closeCycle(project, now);
  const cycle = project.store.read(historyFile)?.cycles.at(-1) as Cycle | undefined;
  if (cycle === undefined || outer.root === project.root) return;
  await outer.store.update((change) => {
    const history = change.open(historyFile) ?? { cycles: [] };
    const known = history.cycles.some((other) => cycleIdentity(other) === cycleIdentity(cycle));
    if (!known) change.write(historyFile, { ...history, cycles: [...history.cycles, cycle] }, { appended: cycle });
  });
}

/** Paths agents may look up: what the project knows, remembers and rules. */
export function knowledgeIndex(root: string): string[] {
  return ["memory", "context", "rules"].flatMap((kind) => {
    const folder = join(root, ".nexus", kind);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => join(folder, name));
  });
}
