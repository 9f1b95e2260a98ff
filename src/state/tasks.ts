// The tasks of the open cycle.
import { join } from "node:path";
import type { PlanIssue } from "../schema/plan.js";
import type { ReusePolicy, Task, TaskStatus, TasksFile } from "../schema/tasks.js";
import { editTracker, planFile, reopenTracker, tasksFile } from "./documents.js";
import { archive } from "./history.js";
import type { Project } from "./project.js";
import { type Refusal, refusal } from "./refusal.js";
import { hadLoop, recordReopening } from "./trackers.js";

export interface NewTask {
  readonly title: string;
  readonly context: string;
  readonly deps?: number[] | undefined;
  readonly approach?: string | undefined;
  readonly acceptance?: string | undefined;
  readonly risk?: string | undefined;
  readonly plan_issue?: number | undefined;
  readonly goal?: string | undefined;
  readonly decisions?: string[] | undefined;
  readonly owner?: string | undefined;
  readonly owner_agent_id?: string | undefined;
  readonly owner_reuse_policy?: ReusePolicy | undefined;
}

export function addTask(project: Project, given: NewTask, now: Date): Promise<{ task: Task }> {
  const { goal, decisions, title, context, approach, acceptance, risk, deps, ...owner } = given;
  return project.store.update((change) => {
    const before: TasksFile = change.open(tasksFile) ?? { goal: "", decisions: [], tasks: [] };
    const task: Task = defined({
      id: 1 + before.tasks.reduce((highest, { id }) => Math.max(highest, id), 0),
      title,
      context,
      approach,
      acceptance,
      risk,
      status: "pending",
      deps: deps ?? [],
      ...owner,
      created_at: now.toISOString(),
    }) as Task;
    const after: TasksFile = {
      ...before,
      goal: goal || before.goal || "",
      decisions: decisions === undefined ? (before.decisions ?? []) : [...(before.decisions ?? []), ...decisions],
      tasks: [...before.tasks, task],
    };
    change.write(tasksFile, after, { appended: task });
    return { task };
  });
}

export interface TaskSummary {
  readonly total: number;
  readonly completed: number;
  readonly pending: number;
  readonly blocked: number;
  readonly ready: number[];
}

export function listTasks(project: Project) {
  const file = project.store.read(tasksFile);
  if (file === null) return { exists: false };
  return { goal: file.goal ?? "", tasks: file.tasks, summary: summarize(file.tasks) };
}

/** `blocked` counts tasks in progress: that is what the contract calls it. */
export function summarize(tasks: readonly Task[]): TaskSummary {
  const of = (wanted: TaskStatus) => tasks.filter(({ status }) => status === wanted);
  const completed = new Set(of("completed").map(({ id }) => id));
  const pending = of("pending");
  return {
    total: tasks.length,
    completed: completed.size,
    pending: pending.length,
    blocked: of("in_progress").length,
    ready: pending.filter(({ deps }) => (deps ?? []).every((dep) => completed.has(dep))).map(({ id }) => id),
  };
}

export interface NeverReady {
  readonly id: number;
  readonly why: string;
}

/** Tasks that no amount of finished work will ever free: they wait for themselves, for each other, or for nothing. */
export function neverReady(tasks: readonly Task[]): NeverReady[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const open = tasks.filter(({ status }) => status !== "completed");
  const isOpen = new Set(open.map(({ id }) => id));
  const waitingFor = new Map(
    open.map(({ id, deps = [] }) => [id, deps.filter((dep) => isOpen.has(dep) || !byId.has(dep)).length]),
  );
  const dependents = new Map<number, number[]>();
  for (const { id, deps = [] } of open) {
    for (const dep of deps) {
      const list = dependents.get(dep);
      if (list === undefined) dependents.set(dep, [id]);
      else list.push(id);
    }
  }
  // Finish whatever can run, and whatever that frees; what is left over waits for ever.
  const free = open.map(({ id }) => id).filter((id) => waitingFor.get(id) === 0);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    waitingFor.delete(id);
    for (const dependent of dependents.get(id) ?? []) {
      const left = waitingFor.get(dependent)! - 1;
      waitingFor.set(dependent, left);
      if (left === 0) free.push(dependent);
    }
  }
  return open
    .filter(({ id }) => waitingFor.has(id))
    .map((task) => ({ id: task.id, why: whyNever(task, byId) }))
    .sort((a, b) => a.id - b.id);
}

function whyNever({ id, deps = [] }: Task, byId: ReadonlyMap<number, Task>): string {
  if (deps.includes(id)) return "depends on itself";
  const missing = deps.filter((dep) => !byId.has(dep));
  if (missing.length > 0) return `depends on ${missing.join(", ")}, which does not exist`;
  return "waits in a circle, or for a task that can never be ready";
}

export function updateTask(
  project: Project,
  { id, status }: { readonly id: number; readonly status: TaskStatus },
  now: Date,
): Promise<{ task: Task } | Refusal> {
  return project.store.update((change) => {
    const file = change.open(tasksFile);
    if (file === null) return refusal("tasks.json not found");
    const index = file.tasks.findIndex((task) => task.id === id);
    const before = file.tasks[index];
    if (before === undefined) return refusal(`Task id ${id} not found`);
    const task = { ...before, status };
    if (before.status === "completed" && status === "pending") recordReopening(change, "tasks", id, now);
    if (before.status !== status) {
      change.write(tasksFile, { ...file, tasks: file.tasks.with(index, task) }, { replaced: index });
    }
    return { task };
  });
}

export async function closeCycle(project: Project, now: Date) {
  return project.store.update((change) => {
    const plan = change.open(planFile);
    const file = change.open(tasksFile);
    const tasks = file?.tasks ?? [];
    const branch = project.branch();
    const hadLoopDetection = hadLoop(project.store);
    const { completedAt, totalCycles } = archive(change, { plan, tasks, branch }, now);
    const deleted = change.remove(
      [planFile, tasksFile, editTracker, reopenTracker].map((document) => join(document.path(change.layout))),
    );
    const decisions = (plan?.issues ?? []).filter(isDecided).length;
    return {
      closed: true,
      cycle: completedAt,
      branch,
      archived: { plan: plan !== null, decisions, tasks: tasks.length },
      deleted,
      total_cycles: totalCycles,
      memoryHint: {
        taskCount: tasks.length,
        decisionCount: decisions,
        hadLoopDetection,
        cycleTopics: [plan?.topic, file?.goal].filter((topic): topic is string => !!topic),
      },
    };
  });
}

const isDecided = ({ status }: PlanIssue) => status === "decided";

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
