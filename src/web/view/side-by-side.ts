// Two texts, line beside line. Myers' shortest edit script, cut off where an exact answer costs more than it tells.
import type { DiffLine } from "./model.js";

/** Past this many differing lines the rest is shown as replaced. */
const MAX_EDITS = 2_000;
/** Unchanged lines kept around a change. */
const AROUND = 4;

type Step = readonly [kind: "same" | "removed" | "added", before: number, after: number];

export function sideBySide(before: string, after: string): DiffLine[] {
  const left = split(before);
  const right = split(after);
  return folded(paired(edits(left, right), left, right));
}

function split(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Where each edit count had got to, so that the way back can be walked. */
function edits(a: readonly string[], b: readonly string[]): Step[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const steps: Step[] = Array.from({ length: start }, (_, i): Step => ["same", i, i]);
  steps.push(...middle(a.slice(start, a.length - end), b.slice(start, b.length - end), start));
  for (let i = end; i > 0; i -= 1) steps.push(["same", a.length - i, b.length - i]);
  return steps;
}

function middle(a: readonly string[], b: readonly string[], offset: number): Step[] {
  const trace: Map<number, number>[] = [];
  const furthest = new Map<number, number>([[1, 0]]);
  const most = Math.min(a.length + b.length, MAX_EDITS);
  for (let count = 0; count <= most; count += 1) {
    trace.push(new Map(furthest));
    for (let k = -count; k <= count; k += 2) {
      let x = goesDown(furthest, k, count) ? (furthest.get(k + 1) ?? 0) : (furthest.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length, offset);
    }
  }
  return [...a.map((_, i): Step => ["removed", offset + i, -1]), ...b.map((_, i): Step => ["added", -1, offset + i])];
}

function goesDown(furthest: ReadonlyMap<number, number>, k: number, count: number): boolean {
  return k === -count || (k !== count && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
}

function walkBack(trace: readonly Map<number, number>[], length: number, other: number, offset: number): Step[] {
  const steps: Step[] = [];
  let x = length;
  let y = other;
  for (let count = trace.length - 1; count >= 0 && (x > 0 || y > 0); count -= 1) {
    const furthest = trace[count]!;
    const k = x - y;
    const from = goesDown(furthest, k, count) ? k + 1 : k - 1;
    const fromX = count === 0 ? 0 : (furthest.get(from) ?? 0);
    const fromY = count === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      steps.push(["same", offset + x, offset + y]);
    }
    if (count === 0) break;
    if (x === fromX) {
      y -= 1;
      steps.push(["added", -1, offset + y]);
    } else {
      x -= 1;
      steps.push(["removed", offset + x, -1]);
    }
  }
  return steps.reverse();
}

/** A run of removed lines stands beside the run of added ones that follows it. */
function paired(steps: readonly Step[], a: readonly string[], b: readonly string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  for (let at = 0; at < steps.length; ) {
    const [kind, before, after] = steps[at]!;
    if (kind === "same") {
      lines.push({ before: before + 1, after: after + 1, left: a[before]!, right: b[after]!, kind });
      at += 1;
      continue;
    }
    const removed: number[] = [];
    const added: number[] = [];
    for (; at < steps.length && steps[at]![0] !== "same"; at += 1) {
      const [, gone, come] = steps[at]!;
      if (gone >= 0) removed.push(gone);
      else added.push(come);
    }
    for (let i = 0; i < Math.max(removed.length, added.length); i += 1) lines.push(pair(removed[i], added[i], a, b));
  }
  return lines;
}

function pair(
  gone: number | undefined,
  come: number | undefined,
  a: readonly string[],
  b: readonly string[],
): DiffLine {
  const kind = gone === undefined ? "added" : come === undefined ? "removed" : "changed";
  return {
    before: gone === undefined ? null : gone + 1,
    after: come === undefined ? null : come + 1,
    left: gone === undefined ? "" : a[gone]!,
    right: come === undefined ? "" : b[come]!,
    kind,
  };
}

/** Long unchanged stretches become one row that says how many lines it stands for. */
function folded(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Uint8Array(lines.length);
  for (const [at, { kind }] of lines.entries()) {
    if (kind !== "same") near.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
  }
  const shown: DiffLine[] = [];
  for (let at = 0; at < lines.length; ) {
    if (near[at] === 1) {
      shown.push(lines[at]!);
      at += 1;
      continue;
    }
    const first = at;
    while (at < lines.length && near[at] === 0) at += 1;
    if (at - first === 1) shown.push(lines[first]!);
    else shown.push({ before: null, after: null, left: `${at - first} unchanged lines`, right: "", kind: "gap" });
  }
  return shown;
}
