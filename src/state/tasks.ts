// The tasks of the open cycle.
import { join } from "node:path";
import type { PlanIssue } from "../schema/plan.js";
import type { ReusePolicy, Task, TaskStatus, TasksFile } from "../schema/tasks.js";
import { editTracker, planFile, reopenTracker, tasksFile } from "./documents.js";
import type { Revision } from "./group.js";
import { archive } from "./history.js";
import type { Project } from "./project.js";
import { type Refusal, refusal } from "./refusal.js";
import type { Transaction } from "./store.js";
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

export function addTask(project: Project, asked: NewTask, now: Date): Promise<{ task: Task }> {
  const { goal, decisions, title, context, approach, acceptance, risk, deps, ...owner } = asked;
  return project.store.revise(tasksFile, (file) => {
    const before: TasksFile = file ?? { goal: "", decisions: [], tasks: [] };
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
    const more = decisions !== undefined || file?.decisions === undefined;
    const fields = {
      goal: goal || before.goal || "",
      ...(more ? { decisions: [...(before.decisions ?? []), ...(decisions ?? [])] } : {}),
    };
    return { answer: { task }, entry: { item: task, fields } };
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

interface StatusChange {
  readonly id: number;
  readonly status: TaskStatus;
}

export async function updateTask(project: Project, given: StatusChange, now: Date): Promise<{ task: Task } | Refusal> {
  const done = await project.store.revise(tasksFile, (file): Revision<StatusRevision["answer"] | null> => {
    const { reopened, ...revision } = withStatus(file, given);
    return reopened ? { answer: null } : revision;
  });
  // Reopening is recorded in a file of its own.
  return done ?? project.store.update((change) => reopen(change, given, now));
}

interface StatusRevision extends Revision<{ task: Task } | Refusal> {
  readonly reopened: boolean;
}

function withStatus(file: TasksFile | null, { id, status }: StatusChange): StatusRevision {
  if (file === null) return { answer: refusal("tasks.json not found"), reopened: false };
  const at = file.tasks.findIndex((task) => task.id === id);
  const before = file.tasks[at];
  if (before === undefined) return { answer: refusal(`Task id ${id} not found`), reopened: false };
  const task = { ...before, status };
  const reopened = before.status === "completed" && status === "pending";
  return { answer: { task }, reopened, ...(before.status === status ? {} : { entry: { item: task, at } }) };
}

function reopen(change: Transaction, given: StatusChange, now: Date): { task: Task } | Refusal {
  const { reopened } = withStatus(change.open(tasksFile), given);
  if (reopened) recordReopening(change, "tasks", given.id, now);
  return change.revise(tasksFile, (file) => withStatus(file, given));
}

export async function closeCycle(project: Project, now: Date, { emptyFirst = false } = {}) {
  return project.store.update((change) => {
    const plan = change.open(planFile);
    const file = change.open(tasksFile);
    const tasks = file?.tasks ?? [];
    const branch = project.branch();
    const hadLoopDetection = hadLoop(project.store);
    const { completedAt, totalCycles } = archive(change, { plan, tasks, branch }, now, emptyFirst);
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
