// What a graph of tasks can be asked: what a task needs, what waits for it, and which chain of open tasks is the longest.
import type { TaskRow } from "../../board/model.js";

type Linked = Pick<TaskRow, "id" | "deps" | "stage">;

/** Everything that a task needs, or that waits for it, directly or through others. The task itself is among them. */
export function related(rows: readonly Linked[], id: number): Set<number> {
  const needs = new Map(rows.map((row) => [row.id, row.deps]));
  const waits = new Map<number, number[]>();
  for (const row of rows) for (const dep of row.deps) waits.set(dep, [...(waits.get(dep) ?? []), row.id]);
  return new Set([...reach(id, needs), ...reach(id, waits)]);
}

function reach(from: number, links: ReadonlyMap<number, readonly number[]>): Set<number> {
  const seen = new Set([from]);
  for (const at of seen) for (const next of links.get(at) ?? []) seen.add(next);
  return seen;
}

/** The longest chain of tasks that are not done: nothing can be over before they are. Tasks in a ring are left out. */
export function criticalPath(rows: readonly Linked[]): number[] {
  const open = new Map(
    rows.filter(({ stage }) => stage !== "done" && stage !== "given up").map((row) => [row.id, row]),
  );
  const length = new Map<number, number>();
  const before = new Map<number, number>();
  for (const id of inOrder(open)) {
    const deps = open.get(id)!.deps.filter((dep) => length.has(dep));
    const longest = deps.reduce<number | null>(
      (best, dep) => (best === null || length.get(dep)! > length.get(best)! ? dep : best),
      null,
    );
    length.set(id, longest === null ? 1 : length.get(longest)! + 1);
    if (longest !== null) before.set(id, longest);
  }
  let end: number | undefined;
  for (const [id, long] of length) if (end === undefined || long > length.get(end)!) end = id;
  const path: number[] = [];
  for (let at = end; at !== undefined; at = before.get(at)) path.unshift(at);
  return path.length > 1 ? path : [];
}

/** Each after what it needs. */
function inOrder(open: ReadonlyMap<number, Linked>): number[] {
  const missing = new Map<number, number>();
  const waits = new Map<number, number[]>();
  for (const [id, { deps }] of open) {
    const needed = [...new Set(deps)].filter((dep) => open.has(dep));
    missing.set(id, needed.length);
    for (const dep of needed) waits.set(dep, [...(waits.get(dep) ?? []), id]);
  }
  const order = [...missing].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of order) {
    for (const next of waits.get(id) ?? []) {
      missing.set(next, missing.get(next)! - 1);
      if (missing.get(next) === 0) order.push(next);
    }
  }
  return order;
}
