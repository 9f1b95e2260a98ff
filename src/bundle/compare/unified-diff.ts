// A text diff as people know it. Myers' algorithm over lines; texts that share almost nothing are shown whole, because
// an exact answer then costs more than it tells.

const CONTEXT = 3;
const MAX_EDITS = 2000;

type Step = readonly [" " | "-" | "+", string];

/** Unified diff without the two header lines; empty when the texts are equal. */
export function unifiedDiff(before: string, after: string): string[] {
  if (before === after) return [];
  const steps = script(lines(before), lines(after));
  return hunks(steps).flatMap(({ header, body }) => [header, ...body.map(([mark, line]) => mark + line)]);
}

function lines(text: string): string[] {
  if (text === "") return [];
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  else all.push("\\ No newline at end of file");
  return all;
}

function script(a: string[], b: string[]): Step[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const same = (line: string): Step => [" ", line];
  return [
    ...a.slice(0, start).map(same),
    ...edits(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

function edits(a: readonly string[], b: readonly string[]): Step[] {
  const trace = forward(a, b);
  if (trace === null) return [...a.map((line): Step => ["-", line]), ...b.map((line): Step => ["+", line])];
  const steps: Step[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d > 0; d -= 1) {
    const furthest = trace[d - 1]!;
    const k = x - y;
    const isDown = k === -d || (k !== d && at(furthest, k - 1) < at(furthest, k + 1));
    const fromX = at(furthest, isDown ? k + 1 : k - 1);
    const fromY = fromX - (isDown ? k + 1 : k - 1);
    for (; x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]; x -= 1, y -= 1)
      steps.push([" ", a[x - 1]!]);
    if (isDown) steps.push(["+", b[fromY]!]);
    else steps.push(["-", a[fromX]!]);
    x = fromX;
    y = fromY;
  }
  for (; x > 0; x -= 1) steps.push([" ", a[x - 1]!]);
  return steps.reverse();
}

const at = (furthest: ReadonlyMap<number, number>, k: number) => furthest.get(k) ?? -1;

/** The furthest point reached on each diagonal after each number of edits; null when there are too many. */
function forward(a: readonly string[], b: readonly string[]): ReadonlyMap<number, number>[] | null {
  const trace: Map<number, number>[] = [];
  for (let d = 0; d <= Math.min(a.length + b.length, MAX_EDITS); d += 1) {
    const last = trace[d - 1] ?? new Map<number, number>();
    const furthest = new Map<number, number>();
    trace.push(furthest);
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && at(last, k - 1) < at(last, k + 1));
      let x = d === 0 ? 0 : isDown ? at(last, k + 1) : at(last, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return trace;
    }
  }
  return null;
}

interface Hunk {
  readonly header: string;
  readonly body: readonly Step[];
}

function hunks(steps: readonly Step[]): Hunk[] {
  const found: Hunk[] = [];
  const changes = steps.flatMap(([mark], index) => (mark === " " ? [] : [index]));
  for (let i = 0; i < changes.length; ) {
    const from = Math.max(0, changes[i]! - CONTEXT);
    let last = changes[i]!;
    for (i += 1; i < changes.length && changes[i]! - last <= 2 * CONTEXT; i += 1) last = changes[i]!;
    const body = steps.slice(from, last + CONTEXT + 1);
    found.push({ header: header(steps.slice(0, from), body), body });
  }
  return found;
}

function header(before: readonly Step[], body: readonly Step[]): string {
  const count = (steps: readonly Step[], without: "-" | "+") =>
    steps.filter(([mark, line]) => mark !== without && !line.startsWith("\\ No newline")).length;
  const range = (without: "-" | "+") => {
    const length = count(body, without);
    return `${count(before, without) + (length === 0 ? 0 : 1)},${length}`;
  };
  return `@@ -${range("+")} +${range("-")} @@`;
}
