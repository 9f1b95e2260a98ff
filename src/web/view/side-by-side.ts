// Two texts, line beside line.
import { lineChanges, splitLines } from "../../trees/line-diff.js";
import type { DiffLine } from "./model.js";

/** Every line of both. The removed lines of a change stand beside the added ones. */
export function sideBySide(before: string, after: string): DiffLine[] {
  const [a, b] = [splitLines(before), splitLines(after)];
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

/** How many lines a file gained and lost. */
export function countSides(before: string, after: string): readonly [added: number, removed: number] {
  return lineChanges(splitLines(before), splitLines(after)).reduce<readonly [number, number]>(
    ([added, removed], change) => [
      added + change.afterEnd - change.afterStart,
      removed + change.beforeEnd - change.beforeStart,
    ],
    [0, 0],
  );
}
