// The one line diff: counting changed lines, `diff -t`, the viewer and the settings a host set-up changes all ask here.
// Myers' shortest edit script, found from both ends at once, so memory stays linear. Time stays linear too: a stretch
// with too many edits is cut at lines that occur once on each side, and what cannot be cut is replaced as a whole.

/** Lines `beforeStart` up to `beforeEnd` of the first text gave way to lines `afterStart` up to `afterEnd` of the second. */
export interface LineChange {
  readonly beforeStart: number;
  readonly beforeEnd: number;
  readonly afterStart: number;
  readonly afterEnd: number;
}

/** Edits the search takes from each end of a stretch. A diff of more than twice as many tells a reader nothing new. */
const MAX_EDITS = 1_000;
/** Steps all searches may take together: so many for every line, and never fewer than an ordinary file needs. */
const STEPS_PER_LINE = 128;
const MIN_STEPS = 8_000_000;

/** The lines of a text; a line break at its end begins no further line. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.endsWith("\n") ? lines : lines + 1;
}

/** Lines removed plus lines added, as `diff` counts them. */
export function countChangedLines(before: string, after: string): number {
  return lineChanges(splitLines(before), splitLines(after)).reduce(
    (sum, { beforeStart, beforeEnd, afterStart, afterEnd }) => sum + beforeEnd - beforeStart + afterEnd - afterStart,
    0,
  );
}

/** What changed, in order; lines between two changes are equal on both sides. */
export function lineChanges(before: readonly string[], after: readonly string[]): LineChange[] {
  const numbers = new Map<string, number>();
  const numbered = (lines: readonly string[]) =>
    Int32Array.from(lines, (line) => {
      const number = numbers.get(line) ?? numbers.size;
      numbers.set(line, number);
      return number;
    });
  return new LineComparison(numbered(before), numbered(after)).changes();
}

/** A diagonal no path has reached. */
const NOWHERE = -(2 ** 30);
const CENTRE = MAX_EDITS + 1;

class LineComparison {
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  /** How far paths from the start (and from the end) come on each diagonal; the middle one is at CENTRE. */
  readonly #forward = new Int32Array(2 * CENTRE + 1);
  readonly #backward = new Int32Array(2 * CENTRE + 1);
  #stepsLeft: number;

  constructor(before: Int32Array, after: Int32Array) {
    this.#before = before;
    this.#after = after;
    this.#stepsLeft = Math.max(MIN_STEPS, STEPS_PER_LINE * (before.length + after.length));
  }

  changes(): LineChange[] {
    const changes: LineChange[] = [];
    const { length: beforeEnd } = this.#before;
    const { length: afterEnd } = this.#after;
    const stretches: LineChange[] = [{ beforeStart: 0, beforeEnd, afterStart: 0, afterEnd }];
    for (let stretch = stretches.pop(); stretch !== undefined; stretch = stretches.pop()) {
      const rest = this.#withoutEqualEnds(stretch);
      const isOneSided = rest.beforeStart === rest.beforeEnd || rest.afterStart === rest.afterEnd;
      const pieces = isOneSided ? [] : this.#cut(rest);
      if (pieces.length === 0) append(changes, rest);
      else for (const piece of pieces.reverse()) stretches.push(piece);
    }
    return changes;
  }

  #withoutEqualEnds(stretch: LineChange): LineChange {
    let { beforeStart, beforeEnd, afterStart, afterEnd } = stretch;
    const [a, b] = [this.#before, this.#after];
    while (beforeStart < beforeEnd && afterStart < afterEnd && a[beforeStart] === b[afterStart]) {
      beforeStart += 1;
      afterStart += 1;
    }
    while (beforeStart < beforeEnd && afterStart < afterEnd && a[beforeEnd - 1] === b[afterEnd - 1]) {
      beforeEnd -= 1;
      afterEnd -= 1;
    }
    return { beforeStart, beforeEnd, afterStart, afterEnd };
  }

  /** Smaller stretches that can be compared each on its own; none when this one is to be replaced as a whole. */
  #cut(stretch: LineChange): LineChange[] {
    if (this.#stepsLeft <= 0) return [];
    const middle = this.#middle(stretch);
    if (middle !== null) return split(stretch, [middle]);
    this.#stepsLeft -= stretch.beforeEnd - stretch.beforeStart + stretch.afterEnd - stretch.afterStart;
    return split(stretch, this.#anchors(stretch));
  }

  /** A point that some shortest edit script passes through; null when the search takes too long. */
  #middle({ beforeStart, beforeEnd, afterStart, afterEnd }: LineChange): Point | null {
    const [width, height] = [beforeEnd - beforeStart, afterEnd - afterStart];
    const [a, b, forward, backward] = [this.#before, this.#after, this.#forward, this.#backward];
    const difference = width - height;
    const isOdd = difference % 2 !== 0;
    forget(0, forward, backward);
    forward[CENTRE + 1] = 0;
    backward[CENTRE + 1] = 0;
    const most = Math.min(MAX_EDITS, Math.ceil((width + height) / 2));
    for (let edits = 0; edits <= most && this.#stepsLeft > 0; edits += 1) {
      if (edits > 0) forget(edits, forward, backward);
      for (let k = -edits; k <= edits; k += 2) {
        const start = reach(forward, k, width, height);
        let x = start;
        while (x >= 0 && x < width && x - k < height && a[beforeStart + x] === b[afterStart + x - k]) x += 1;
        forward[CENTRE + k] = x;
        this.#stepsLeft -= 1 + x - start;
        const opposite = difference - k;
        if (!isOdd || x < 0 || Math.abs(opposite) >= edits) continue;
        if (x + backward[CENTRE + opposite]! >= width) return [beforeStart + x, afterStart + x - k];
      }
      for (let k = -edits; k <= edits; k += 2) {
        const start = reach(backward, k, width, height);
        let x = start;
        while (x >= 0 && x < width && x - k < height && a[beforeEnd - 1 - x] === b[afterEnd - 1 - x + k]) x += 1;
        backward[CENTRE + k] = x;
        this.#stepsLeft -= 1 + x - start;
        const opposite = difference - k;
        if (isOdd || x < 0 || Math.abs(opposite) > edits) continue;
        if (x + forward[CENTRE + opposite]! >= width) return [beforeEnd - x, afterEnd - x + k];
      }
    }
    return null;
  }

  /** Lines that occur once on each side of a stretch, as many of them as stand in the same order on both. */
  #anchors({ beforeStart, beforeEnd, afterStart, afterEnd }: LineChange): Point[] {
    const places = placesOfUnique(this.#after, afterStart, afterEnd);
    const points: Point[] = [];
    for (const [line, place] of placesOfUnique(this.#before, beforeStart, beforeEnd)) {
      const other = places.get(line);
      if (other !== undefined) points.push([place, other]);
    }
    return longestRising(points);
  }
}

type Point = readonly [before: number, after: number];

/** Marks the two diagonals this round may look at and the last one did not reach. */
function forget(edits: number, forward: Int32Array, backward: Int32Array): void {
  for (const reached of [forward, backward]) {
    reached[CENTRE - edits - 1] = NOWHERE;
    reached[CENTRE + edits + 1] = NOWHERE;
  }
}

/** How far one more edit comes on diagonal `k`, inside the stretch; negative when nowhere. */
function reach(reached: Int32Array, k: number, width: number, height: number): number {
  const byRemoving = reached[CENTRE + k - 1]! + 1;
  const byAdding = reached[CENTRE + k + 1]!;
  const removed = byRemoving <= width ? byRemoving : NOWHERE;
  const added = byAdding - k <= height ? byAdding : NOWHERE;
  return Math.max(removed, added);
}

function split(stretch: LineChange, points: readonly Point[]): LineChange[] {
  if (points.length === 0) return [];
  let { beforeStart, afterStart } = stretch;
  const pieces: LineChange[] = [];
  for (const [beforeEnd, afterEnd] of points) {
    pieces.push({ beforeStart, beforeEnd, afterStart, afterEnd });
    [beforeStart, afterStart] = [beforeEnd, afterEnd];
  }
  pieces.push({ ...stretch, beforeStart, afterStart });
  return pieces;
}

/** line → place, for the lines that occur once. */
function placesOfUnique(lines: Int32Array, start: number, end: number): Map<number, number> {
  const places = new Map<number, number>();
  const repeated = new Set<number>();
  for (let place = start; place < end; place += 1) {
    const line = lines[place]!;
    if (places.has(line)) repeated.add(line);
    else places.set(line, place);
  }
  for (const line of repeated) places.delete(line);
  return places;
}

/** The longest selection of points, in the order given, whose second numbers rise. */
function longestRising(points: readonly Point[]): Point[] {
  const tops: number[] = [];
  const previous = new Int32Array(points.length);
  for (const [index, [, after]] of points.entries()) {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[tops[middle]!]![1] < after) low = middle + 1;
      else high = middle;
    }
    previous[index] = low === 0 ? -1 : tops[low - 1]!;
    tops[low] = index;
  }
  const chosen: Point[] = [];
  for (let index = tops.at(-1) ?? -1; index >= 0; index = previous[index]!) chosen.push(points[index]!);
  return chosen.reverse();
}

/** Adds a change; one that touches the change before it becomes part of it. */
function append(changes: LineChange[], change: LineChange): void {
  const { beforeStart, beforeEnd, afterStart, afterEnd } = change;
  if (beforeStart === beforeEnd && afterStart === afterEnd) return;
  const last = changes.at(-1);
  if (last?.beforeEnd !== beforeStart || last.afterEnd !== afterStart) changes.push(change);
  else changes[changes.length - 1] = { ...last, beforeEnd, afterEnd };
}
