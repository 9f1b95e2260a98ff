// A line diff as people read it.
import { type LineChange, lineChanges, splitLines } from "./line-diff.js";

const UNIFIED_CONTEXT = 3;
const SHORT_CONTEXT = 2;
const NO_NEWLINE = "\\ No newline at end of file";

export interface DiffLine {
  readonly sign: " " | "+" | "-" | "@";
  readonly text: string;
}

/** Unified diff without the two header lines; empty when the texts are equal. */
export function unifiedDiff(before: string, after: string): string[] {
  if (before === after) return [];
  const [a, b] = [unifiedLines(before), unifiedLines(after)];
  return hunks(lineChanges(a, b), a.length, UNIFIED_CONTEXT).flatMap((hunk) => [
    `@@ -${range(hunk.beforeStart, hunk.beforeEnd, a)} +${range(hunk.afterStart, hunk.afterEnd, b)} @@`,
    ...hunkLines(hunk, a, b).map(({ sign, text }) => sign + text),
  ]);
}

/** A diff for a glance: the changed lines, two lines around each, and `…` where lines are left out in between. */
export function lineDiff(before: string | null, after: string | null): DiffLine[] {
  const [a, b] = [splitLines(before ?? ""), splitLines(after ?? "")];
  return hunks(lineChanges(a, b), a.length, SHORT_CONTEXT).flatMap((hunk, index) => [
    ...(index === 0 ? [] : [{ sign: "@" as const, text: "…" }]),
    ...hunkLines(hunk, a, b),
  ]);
}

/** A last line without a line break is followed by one that says so. */
function unifiedLines(text: string): string[] {
  const lines = splitLines(text);
  return text === "" || text.endsWith("\n") ? lines : [...lines, NO_NEWLINE];
}

/** Changes that stand near each other, with the lines around them. */
interface Hunk extends LineChange {
  readonly changes: readonly LineChange[];
}

function hunks(changes: readonly LineChange[], beforeLength: number, context: number): Hunk[] {
  const groups: LineChange[][] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    if (last !== undefined && change.beforeStart - last.at(-1)!.beforeEnd <= 2 * context) last.push(change);
    else groups.push([change]);
  }
  return groups.map((group) => {
    const [first, last] = [group[0]!, group.at(-1)!];
    // Lines around a change are equal on both sides, so there are as many of them on either.
    const above = Math.min(context, first.beforeStart);
    const below = Math.min(context, beforeLength - last.beforeEnd);
    return {
      changes: group,
      beforeStart: first.beforeStart - above,
      afterStart: first.afterStart - above,
      beforeEnd: last.beforeEnd + below,
      afterEnd: last.afterEnd + below,
    };
  });
}

function hunkLines(hunk: Hunk, a: readonly string[], b: readonly string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  const add = (sign: DiffLine["sign"], side: readonly string[], start: number, end: number) => {
    for (let at = start; at < end; at += 1) lines.push({ sign, text: side[at]! });
  };
  let shown = hunk.beforeStart;
  for (const { beforeStart, beforeEnd, afterStart, afterEnd } of hunk.changes) {
    add(" ", a, shown, beforeStart);
    add("-", a, beforeStart, beforeEnd);
    add("+", b, afterStart, afterEnd);
    shown = beforeEnd;
  }
  add(" ", a, shown, hunk.beforeEnd);
  return lines;
}

/** First line and number of lines; the line that tells of a missing line break is none. */
function range(start: number, end: number, lines: readonly string[]): string {
  const count = end - start - (end === lines.length && lines.at(-1) === NO_NEWLINE && end > start ? 1 : 0);
  return `${start + (count === 0 ? 0 : 1)},${count}`;
}
