// The files the store keeps, and what makes each of them readable. Other harnesses write them too, and older ones wrote
// less: a reader asks only for what it needs, keeps what it does not know, and refuses what would make it guess.
import { join } from "node:path";
import { CONTRACT_VERSION } from "../schema/contract.js";
import type { History } from "../schema/history.js";
import type { Plan } from "../schema/plan.js";
import type { TasksFile } from "../schema/tasks.js";
import type { AgentTracker, EditTracker, LiveSession, ReopenTracker } from "../schema/tracker.js";
import type { Layout } from "./layout.js";
import { listOf, nullable, object, oneOf, optional, type ShapeCheck, text, whole } from "./shape.js";

export interface Document<T> {
  readonly name: string;
  path(layout: Layout): string;
  /** What is wrong with a parsed value, or null. */
  problem(value: unknown): string | null;
  /** The long list inside, whose text is kept between writes. */
  readonly list?: string;
  readonly type?: T;
}

const anything: ShapeCheck = () => null;
const issue = object({ id: whole, title: text, status: oneOf("pending", "decided"), decision: optional(text) });
const plan = object({ id: whole, topic: text, issues: listOf(issue) });
const task = object({
  id: whole,
  title: text,
  status: oneOf("pending", "in_progress", "completed"),
  deps: optional(listOf(whole)),
});
const tasks = object({ goal: optional(text), decisions: optional(listOf(anything)), tasks: listOf(task) });
const cycle = object({
  completed_at: optional(text),
  branch: optional(text),
  plan: optional(nullable(plan)),
  tasks: optional(listOf(object())),
});
const history = object({ cycles: listOf(cycle) });

export const planFile = document<Plan>("plan.json", plan, {
  path: ({ state }) => join(state, "plan.json"),
  unique: (value) => (value as Plan).issues,
});
export const tasksFile = document<TasksFile>("tasks.json", tasks, {
  path: ({ state }) => join(state, "tasks.json"),
  unique: (value) => (value as TasksFile).tasks,
  list: "tasks",
});
export const historyFile = document<History>("history.json", history, {
  path: ({ nexus }) => join(nexus, "history.json"),
  list: "cycles",
});
/** Not ours, and never written here; what another harness put in it may be anything. */
export const decisionsFile = document<unknown>("decisions.json", anything, {
  path: ({ state }) => join(state, "decisions.json"),
});
export const agentTracker = document<AgentTracker>("agent-tracker.json", listOf(object()), {
  path: ({ own }) => join(own, "agent-tracker.json"),
});
/** Other harnesses count edits per file as a number; ours lists them. */
export const editTracker = document<EditTracker>("edit-tracker.json", object(), {
  path: ({ state }) => join(state, "edit-tracker.json"),
});
export const reopenTracker = document<ReopenTracker>("reopen-tracker.json", object(), {
  path: ({ state }) => join(state, "reopen-tracker.json"),
});
export const sessionsFile = document<{ sessions: LiveSession[] }>(
  "sessions.json",
  object({ sessions: listOf(object({ session_id: text })) }),
  { path: ({ own }) => join(own, "sessions.json") },
);

/** `plan.extension.json` and kin: what one harness adds to a common file, kept in that harness's own folder. */
export function extensionFile(base: string): Document<Record<string, unknown>> {
  return document(`${base}.extension.json`, object(), {
    path: ({ own }) => join(own, `${base}.extension.json`),
  });
}

/** A file of our own in the harness's folder, such as `session.json`. */
export function ownFile(name: string): Document<Record<string, unknown>> {
  return document(name, object(), { path: ({ own }) => join(own, name) });
}

interface Rules {
  readonly path: (layout: Layout) => string;
  readonly unique?: (value: unknown) => readonly { readonly id: number }[];
  readonly list?: string;
}

function document<T>(name: string, shape: ShapeCheck, { path, unique, list }: Rules): Document<T> {
  return {
    name,
    path,
    ...(list === undefined ? {} : { list }),
    problem(value) {
      const problem = shape(value);
      if (problem !== null) return problem;
      return unique === undefined ? null : duplicate(unique(value));
    },
  };
}

function duplicate(items: readonly { readonly id: number }[]): string | null {
  const seen = new Set<number>();
  for (const { id } of items) {
    if (seen.has(id)) return `id ${id} is there twice`;
    seen.add(id);
  }
  return null;
}

/**
 * The version that wrote a value, when it is one this product must not write over. A newer minor version only adds optional
 * fields, which are kept; a newer major one may mean something else by the same names.
 */
export function newerVersion(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  const { schema_version: own, cycles } = value as { schema_version?: unknown; cycles?: unknown };
  const versions = [own, ...(Array.isArray(cycles) ? cycles.map((one) => one?.schema_version) : [])];
  return versions.find((version): version is string => typeof version === "string" && isNewer(version)) ?? null;
}

function isNewer(version: string): boolean {
  return Number.parseInt(version, 10) > Number.parseInt(CONTRACT_VERSION, 10);
}
