// The state of a run as its journal tells it. Pure: fold the events, get the state; the engine never keeps its own.

import type { Change } from "../../trees/tree.js";
import type { RunPlan, RunTask } from "../plan/plan.js";

export interface Usage {
  readonly tokens: number;
  readonly costUsd: number;
}

export interface AgentStart {
  readonly agent: string;
  readonly task: number;
  readonly role: string;
  readonly purpose: "work" | "diagnose" | "plan";
  readonly mode: "fresh" | "resume";
  /** Why this session is new or an old one continued. */
  readonly reason: string;
  /** The session that is continued. */
  readonly session?: string;
  /** Version of the main tree it started from. */
  readonly base: number;
  readonly slot: string;
}

export interface AgentEnd {
  readonly agent: string;
  readonly task: number;
  readonly outcome: "done" | "failed" | "stopped";
  readonly text: string;
  readonly ms: number;
  readonly usage: Usage;
  /** What it left behind, kept in the run's objects. */
  readonly changes: readonly Change[];
  /** What is wrong with it, before any test is run. */
  readonly problems: readonly string[];
  readonly tools: readonly string[];
  readonly reported: boolean;
  readonly decisions: readonly { readonly decision: string; readonly reason?: string }[];
  readonly issues: readonly string[];
  readonly verdicts: readonly Verdict[];
}

/** A checklist item as a reviewer judged it. */
export interface Verdict {
  readonly item: string;
  readonly status: "passed" | "failed" | "unknown";
  readonly note?: string;
}

export type Answer = "retry" | "skip" | "deliver";

export type JournalEvent = { readonly at: string } & (
  | { readonly type: "created"; readonly run: string }
  | { readonly type: "opened"; readonly digest: string; readonly base: string }
  | { readonly type: "planned"; readonly plan: RunPlan }
  | { readonly type: "reviewed" }
  | ({ readonly type: "agent_started" } & AgentStart)
  | { readonly type: "agent_session"; readonly agent: string; readonly session: string; readonly model?: string }
  | ({ readonly type: "agent_ended" } & AgentEnd)
  | { readonly type: "task_added"; readonly task: RunTask; readonly for?: number }
  | { readonly type: "merging"; readonly task: number; readonly agent: string; readonly changes: readonly Change[] }
  | { readonly type: "merged"; readonly task: number; readonly agent: string }
  | { readonly type: "task_completed"; readonly task: number; readonly evidence: string }
  | { readonly type: "task_failed"; readonly task: number; readonly problems: readonly string[] }
  | { readonly type: "diagnosed"; readonly task: number; readonly role: string; readonly text: string }
  | { readonly type: "asked"; readonly task: number; readonly question: string }
  | { readonly type: "answered"; readonly task: number; readonly answer: Answer; readonly text?: string }
  | { readonly type: "issue"; readonly message: string; readonly task?: number }
  | { readonly type: "checkpoint"; readonly task: number; readonly path: string; readonly description: string }
  | { readonly type: "credential_used"; readonly name: string; readonly purpose: string; readonly agent: string }
  | {
      readonly type: "paused";
      readonly reason: string;
      readonly message: string;
      readonly hint: string;
      readonly ms: number;
    }
  | { readonly type: "continued" }
  | { readonly type: "accepted"; readonly attempt: number; readonly versions: number; readonly results: unknown }
  | {
      readonly type: "delivered";
      readonly path: string;
      readonly hash: string;
      readonly status: string;
      readonly ms: number;
    }
  | { readonly type: "closed" }
);

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
}

export interface RunState {
  plan: RunPlan | null;
  reviewed: boolean;
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
  /** The latest acceptance, and how many changes the tree held then. */
  accepted: { readonly attempt: number; readonly versions: number; readonly results: unknown } | null;
  delivered: { readonly path: string; readonly hash: string; readonly status: string } | null;
  closed: boolean;
  paused: { readonly reason: string; readonly message: string; readonly hint: string } | null;
  spent: { ms: number; tokens: number; costUsd: number };
  createdAt: string;
  endedAt: string;
}

export function emptyState(): RunState {
  return {
    plan: null,
    reviewed: false,
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
    accepted: null,
    delivered: null,
    closed: false,
    paused: null,
    spent: { ms: 0, tokens: 0, costUsd: 0 },
    createdAt: "",
    endedAt: "",
  };
}

export function replay(events: Iterable<JournalEvent>): RunState {
  const state = emptyState();
  for (const event of events) applyEvent(state, event);
  return state;
}

/** Folds one event into the state. The only place where a run's state changes. */
export function applyEvent(state: RunState, event: JournalEvent): void {
  state.endedAt = event.at;
  switch (event.type) {
    case "created":
      state.createdAt = event.at;
      break;
    case "opened":
      state.requestDigest = event.digest;
      state.baseDigest = event.base;
      break;
    case "planned":
      state.plan = event.plan;
      state.tasks.clear();
      for (const task of event.plan.tasks) state.tasks.set(task.id, fresh(task));
      for (const decision of event.plan.decisions) state.decisions.push({ decision });
      for (const { title, decision } of event.plan.issues) {
        if (decision !== undefined) state.decisions.push({ decision, reason: title });
      }
      break;
    case "reviewed":
      state.reviewed = true;
      break;
    case "task_added": {
      state.tasks.set(event.task.id, { ...fresh(event.task), parent: event.for });
      const parent = event.for === undefined ? undefined : state.tasks.get(event.for);
      if (parent !== undefined && event.task.kind === "merge") {
        parent.status = "conflict";
        parent.mergedBy = event.task.id;
      }
      break;
    }
    case "issue":
      state.issues.push(event);
      break;
    case "checkpoint":
      state.checkpoints.push(event);
      break;
    case "credential_used":
      state.credentials.push(event);
      break;
    case "paused":
      state.paused = event;
      state.spent.ms += event.ms;
      break;
    case "continued":
      state.paused = null;
      break;
    case "accepted":
      state.accepted = event;
      break;
    case "delivered":
      state.delivered = event;
      state.spent.ms += event.ms;
      break;
    case "closed":
      state.closed = true;
      break;
    default:
      applyTaskEvent(state, event);
  }
}

type TaskEvent = Extract<
  JournalEvent,
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

function applyTaskEvent(state: RunState, event: TaskEvent): void {
  if (event.type === "agent_session") {
    const agent = state.agents.get(event.agent);
    if (agent !== undefined) Object.assign(agent, { session: event.session, model: event.model ?? agent.model });
    return;
  }
  const task = state.tasks.get(event.task);
  switch (event.type) {
    case "agent_started":
      state.agents.set(event.agent, { ...event, startedAt: event.at });
      if (task !== undefined && event.purpose === "work") task.status = "running";
      break;
    case "agent_ended":
      endAgent(state, task, event);
      break;
    case "merging":
      if (task !== undefined) Object.assign(task, { status: "merging", merging: event.changes });
      break;
    case "merged":
      if (task?.merging !== undefined) {
        state.versions.push(task.merging);
        for (const { path } of task.merging) state.lastEdits.set(path, state.versions.length);
        state.lastMerges.set(event.agent, state.versions.length);
        task.status = "merged";
      }
      break;
    case "task_completed":
      if (task !== undefined) task.status = "completed";
      break;
    case "task_failed":
      if (task !== undefined) {
        Object.assign(task, { status: "failed", failures: task.failures + 1, problems: event.problems });
      }
      break;
    case "diagnosed":
      if (task !== undefined) Object.assign(task, { status: "pending", diagnosis: event });
      break;
    case "asked":
      if (task !== undefined) task.question = event.question;
      break;
    case "answered":
      if (task !== undefined) {
        Object.assign(task, {
          status: event.answer === "retry" ? "pending" : "skipped",
          question: undefined,
          answer: event.text,
        });
      }
  }
}

function endAgent(state: RunState, task: TaskState | undefined, event: { readonly at: string } & AgentEnd): void {
  const agent = state.agents.get(event.agent);
  if (agent !== undefined) Object.assign(agent, { end: event, endedAt: event.at });
  state.spent.tokens += event.usage.tokens;
  state.spent.costUsd += event.usage.costUsd;
  state.decisions.push(...event.decisions);
  for (const message of event.issues) state.issues.push({ message, task: event.task, at: event.at });
  if (task === undefined || agent?.purpose !== "work") return;
  // A try that was stopped from outside did not fail: the task waits to be started again.
  if (event.outcome === "stopped") task.status = "pending";
  else Object.assign(task, { status: "ended", last: event });
}

function fresh(task: RunTask): TaskState {
  return { task, status: "pending", failures: 0, problems: [] };
}
