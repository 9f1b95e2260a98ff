// How far tasks are, counted. Done is completed, and nothing else.
import type { TaskRow, TaskStage } from "../../board/model.js";

export interface Segment {
  readonly name: string;
  readonly count: number;
}

/** What needs a person's eye comes first. */
export const ORDER: readonly TaskStage[] = ["failed", "running", "ready", "waiting", "never", "given up", "done"];

export function countStages(rows: readonly TaskRow[]): Record<TaskStage, number> {
  const counts = Object.fromEntries(ORDER.map((stage) => [stage, 0])) as Record<TaskStage, number>;
  for (const { stage } of rows) counts[stage] += 1;
  return counts;
}

export function segmentsOf(rows: readonly TaskRow[]): Segment[] {
  const { never, ...counts } = countStages(rows);
  const names = ["done", "failed", "given up", "running", "ready", "waiting"] as const;
  return [...names.map((name) => ({ name, count: counts[name] })), { name: "can never be ready", count: never }];
}
