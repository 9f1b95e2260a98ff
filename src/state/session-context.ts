// The snapshot the `context` tool gives. It skips what it cannot read, because it is asked for when things are unclear.
import type { TasksFile } from "../schema/tasks.js";
import { decisionsFile, tasksFile } from "./documents.js";
import type { Project } from "./project.js";

export function sessionContext(project: Project) {
  const tasks = readable(project);
  const completed = tasks?.tasks.filter(({ status }) => status === "completed").length ?? 0;
  const pending = tasks?.tasks.filter(({ status }) => status === "pending").length ?? 0;
  return {
    branch: project.branch(),
    activeMode: tasks === null ? null : ("team" as const),
    ...(tasks === null
      ? {}
      : { goal: tasks.goal ?? "", tasksSummary: { total: tasks.tasks.length, completed, pending } }),
    decisions: [...(tasks?.decisions ?? []).map(asText), ...leftDecisions(project)],
  };
}

function readable(project: Project): TasksFile | null {
  try {
    return project.store.read(tasksFile);
  } catch {
    return null;
  }
}

/** `decisions.json` is not ours, but some harness may have left one: a list, or an object with a list. */
function leftDecisions(project: Project): string[] {
  try {
    const value = project.store.read(decisionsFile);
    const list = Array.isArray(value) ? value : (value as { decisions?: unknown } | null)?.decisions;
    return Array.isArray(list) ? list.map(asText) : [];
  } catch {
    return [];
  }
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  const { decision, summary, title } = (value ?? {}) as Record<string, unknown>;
  const text = decision ?? summary ?? title;
  return typeof text === "string" ? text : JSON.stringify(value);
}
