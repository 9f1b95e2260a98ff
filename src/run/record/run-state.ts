// The state of a run as its journal tells it. Pure: fold the records, get the state; the engine never keeps its own.

import type { RepositoryBase } from "../../schema/delivery.js";
import type { AcceptedReport, AgentEnd, AgentStart, JournalRecord } from "../../schema/journal.js";
import type { RunPlan, RunTask } from "../../schema/run.js";
import type { Change } from "../../trees/tree.js";

export interface TaskState {
  readonly task: RunTask;
  status: "pending" | "running" | "ended" | "merging" | "merged" | "conflict" | "completed" | "failed" | "skipped";
  /** Tries that the harness found wanting. A try cut short by a pause or a crash is none. */
  failures: number;
  problems: readonly string[];
  diagnosis?: { readonly role: string; readonly text: string };
  answer?: string;
  question?: string;
  /** The latest try that came to its end. */
  last?: AgentEnd;
  /** The merge task that must be done before this one counts. */
  mergedBy?: number;
  /** The task whose change a merge task brings in. */
  parent?: number;
  merging?: readonly Change[];
}

export interface AgentState extends AgentStart {
  session?: string;
  model?: string;
  readonly startedAt: string;
  end?: AgentEnd;
  endedAt?: string;
  /** Its program was replaced: nobody continues its session. */
  left?: true;
}

/** Which program works from here on, when it is not the one the run was started with. */
export interface Switched {
  readonly to: string;
  readonly command?: string;
  readonly model?: string;
}

export interface RunState {
  plan: RunPlan | null;
  reviewed: boolean;
  /** The plan was left for a person to read: who goes on then has read it. */
  shown: boolean;
  readonly tasks: Map<number, TaskState>;
  readonly agents: Map<string, AgentState>;
  /** Every change that is in the main tree, in the order it came. */
  readonly versions: (readonly Change[])[];
  /** Which version last changed a path, and which was the last of an agent. */
  readonly lastEdits: Map<string, number>;
  readonly lastMerges: Map<string, number>;
  readonly issues: { readonly message: string; readonly task?: number; readonly at: string }[];
  readonly decisions: { readonly decision: string; readonly reason?: string }[];
  readonly checkpoints: { readonly at: string; readonly path: string; readonly description: string }[];
  readonly credentials: { readonly name: string; readonly at: string; readonly purpose: string }[];
  requestDigest: string | null;
  baseDigest: string | null;
  /** Where work in a repository began. */
  repository: RepositoryBase | null;
  /** The latest acceptance, and how many changes the tree held then. */
  accepted: { readonly attempt: number; readonly versions: number; readonly report: AcceptedReport } | null;
  delivered: { readonly path: string; readonly hash: string; readonly status: string } | null;
  closed: boolean;
  paused: { readonly reason: string; readonly message: string; readonly hint: string } | null;
  /** What the run waits for just now. */
  waiting: { readonly program: string; readonly message: string; readonly ms: number; readonly at: string } | null;
  switched: Switched | null;
  spent: { ms: number; tokens: number; costUsd: number };
  createdAt: string;
}

export function emptyState(): RunState {
  return {
    plan: null,
    reviewed: false,
    shown: false,
    tasks: new Map(),
    agents: new Map(),
    versions: [],
    lastEdits: new Map(),
    lastMerges: new Map(),
    issues: [],
    decisions: [],
    checkpoints: [],
    credentials: [],
    requestDigest: null,
    baseDigest: null,
    repository: null,
    accepted: null,
    delivered: null,
    closed: false,
    paused: null,
    waiting: null,
    switched: null,
    spent: { ms: 0, tokens: 0, costUsd: 0 },
    createdAt: "",
  };
}

/** Folds one record into the state. The only place where a run's state changes. */
export function applyRecord(state: RunState, record: JournalRecord): void {
  switch (record.type) {
    case "created":
      state.createdAt = record.at;
      break;
    case "opened":
      state.requestDigest = record.digest;
      state.baseDigest = record.base;
      state.repository = record.repository ?? null;
      break;
    case "planned":
      state.plan = record.plan;
      state.tasks.clear();
      // A plan comes again as its reader changed it: what they struck out was not decided.
      state.decisions.length = 0;
      for (const task of record.plan.tasks) state.tasks.set(task.id, fresh(task));
      for (const decision of record.plan.decisions) state.decisions.push({ decision });
      for (const { title, decision } of record.plan.issues) {
        if (decision !== undefined) state.decisions.push({ decision, reason: title });
      }
      break;
    case "reviewed":
      state.reviewed = true;
      break;
    case "task_added": {
      state.tasks.set(record.task.id, { ...fresh(record.task), parent: record.for });
      const parent = record.for === undefined ? undefined : state.tasks.get(record.for);
      if (parent !== undefined && record.task.kind === "merge") {
        parent.status = "conflict";
        parent.mergedBy = record.task.id;
      }
      break;
    }
    case "issue":
      state.issues.push(record);
      break;
    case "checkpoint":
      state.checkpoints.push(record);
      break;
    case "credential_used":
      state.credentials.push(record);
      break;
    case "waiting":
      state.waiting = record;
      break;
    case "switched":
      state.switched = record;
      state.waiting = null;
      for (const agent of state.agents.values()) agent.left = true;
      state.issues.push({ message: `${record.to} took over from ${record.from}: ${record.reason}`, at: record.at });
      break;
    case "paused":
      state.waiting = null;
      state.paused = record;
      state.spent.ms += Math.max(0, record.ms);
      if (record.reason === "review") state.shown = true;
      break;
    case "continued":
      state.paused = null;
      break;
    case "accepted":
      state.accepted = record;
      break;
    case "delivered":
      state.delivered = record;
      state.spent.ms += Math.max(0, record.ms);
      break;
    case "closed":
      state.closed = true;
      break;
    default:
      applyTaskRecord(state, record);
  }
}

type TaskRecord = Extract<
  JournalRecord,
  {
    type:
      | "agent_started"
      | "agent_session"
      | "agent_ended"
      | "merging"
      | "merged"
      | "task_completed"
      | "task_failed"
      | "diagnosed"
      | "asked"
      | "answered";
  }
>;

function applyTaskRecord(state: RunState, record: TaskRecord): void {
  if (record.type === "agent_session") {
    const agent = state.agents.get(record.agent);
    if (agent !== undefined) Object.assign(agent, { session: record.session, model: record.model ?? agent.model });
    return;
  }
  const task = state.tasks.get(record.task);
  switch (record.type) {
    case "agent_started":
      state.waiting = null;
      state.agents.set(record.agent, { ...record, startedAt: record.at });
      if (task !== undefined && record.purpose === "work") task.status = "running";
      break;
    case "agent_ended":
      endAgent(state, task, record);
      break;
    case "merging":
      if (task !== undefined) Object.assign(task, { status: "merging", merging: record.changes });
      break;
    case "merged":
      if (task !== undefined) {
        const changes = task.merging ?? [];
        state.versions.push(changes);
        for (const { path } of changes) state.lastEdits.set(path, state.versions.length);
        state.lastMerges.set(record.agent, state.versions.length);
        task.status = "merged";
      }
      break;
    case "task_completed":
      if (task !== undefined) task.status = "completed";
      break;
    case "task_failed":
      if (task !== undefined) {
        Object.assign(task, { status: "failed", failures: task.failures + 1, problems: record.problems });
      }
      break;
    case "diagnosed":
      if (task !== undefined) Object.assign(task, { status: "pending", diagnosis: record });
      break;
    case "asked":
      if (task !== undefined) task.question = record.question;
      break;
    case "answered":
      if (task !== undefined) {
        Object.assign(task, {
          status: record.answer === "retry" ? "pending" : "skipped",
          question: undefined,
          answer: record.text,
        });
      }
  }
}

function endAgent(state: RunState, task: TaskState | undefined, record: { readonly at: string } & AgentEnd): void {
  const agent = state.agents.get(record.agent);
  if (agent !== undefined) Object.assign(agent, { end: record, endedAt: record.at });
  state.spent.tokens += record.usage.tokens;
  state.spent.costUsd += record.usage.costUsd;
  state.decisions.push(...record.decisions);
  for (const message of record.issues) state.issues.push({ message, task: record.task, at: record.at });
  if (task === undefined || agent?.purpose !== "work") return;
  // A try that was stopped from outside did not fail: the task waits to be started again.
  if (record.outcome === "stopped") task.status = "pending";
  else Object.assign(task, { status: "ended", last: record });
}

/** Whether nothing was changed since an agent looked at the tree: what it said of it still holds. */
export function sawThisTree(state: RunState, agent: string | undefined): boolean {
  const base = agent === undefined ? undefined : state.agents.get(agent)?.base;
  return base !== undefined && state.versions.slice(base).every((changes) => changes.length === 0);
}

function fresh(task: RunTask): TaskState {
  return { task, status: "pending", failures: 0, problems: [] };
}
