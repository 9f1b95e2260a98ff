// Two texts, line beside line.
import { lineChanges, splitLines } from "../../trees/line-diff.js";
import type { DiffLine } from "./model.js";

/** Unchanged lines kept around a change. */
const AROUND = 4;

/** `isWhole`: with every unchanged line. */
export function sideBySide(before: string, after: string, isWhole = false): DiffLine[] {
  const lines = rows(splitLines(before), splitLines(after));
  return isWhole ? lines : folded(lines);
}

/** The removed lines of a change stand beside the added ones. */
function rows(a: readonly string[], b: readonly string[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  const equalUntil = (end: number) => {
    for (; left < end; left += 1, right += 1) {
      lines.push({ before: left + 1, after: right + 1, left: a[left]!, right: b[right]!, kind: "same" });
    }
  };
  for (const { beforeStart, beforeEnd, afterEnd } of lineChanges(a, b)) {
    equalUntil(beforeStart);
    for (; left < beforeEnd && right < afterEnd; left += 1, right += 1) {
      lines.push({ before: left + 1, after: right + 1, left: a[left]!, right: b[right]!, kind: "changed" });
    }
    for (; left < beforeEnd; left += 1) {
      lines.push({ before: left + 1, after: null, left: a[left]!, right: "", kind: "removed" });
    }
    for (; right < afterEnd; right += 1) {
      lines.push({ before: null, after: right + 1, left: "", right: b[right]!, kind: "added" });
    }
  }
  equalUntil(a.length);
  return lines;
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
