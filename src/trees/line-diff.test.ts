import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { countChangedLines, countLines, lineChanges } from "./line-diff.js";

it.each([
  ["", 0],
  ["a", 1],
  ["a\n", 1],
  ["a\n\nb", 3],
])("counts the lines of %j", (text, lines) => expect(countLines(text)).toBe(lines));

it("counts what diff counts", () => {
  const folder = mkdtempSync(join(tmpdir(), "nut-diff-"));
  const [a, b] = [join(folder, "a"), join(folder, "b")];
  const text = fc
    .array(fc.constantFrom("x", "y", "z", ""), { maxLength: 12 })
    .map((lines) => lines.map((line) => `${line}\n`).join(""));
  fc.assert(
    fc.property(text, text, (before, after) => {
      writeFileSync(a, before);
      writeFileSync(b, after);
      const out = execFileSync("sh", ["-c", `diff --minimal "${a}" "${b}" | grep -c '^[<>]' || true`], {
        encoding: "utf8",
      });
      expect(countChangedLines(before, after)).toBe(Number(out));
    }),
    { numRuns: 60 },
  );
  rmSync(folder, { recursive: true });
});

/** The second list, made from the first and the changes alone. */
function applied(before: readonly string[], after: readonly string[]): string[] {
  const pieces: string[][] = [];
  let at = 0;
  for (const { beforeStart, beforeEnd, afterStart, afterEnd } of lineChanges(before, after)) {
    pieces.push(before.slice(at, beforeStart), after.slice(afterStart, afterEnd));
    at = beforeEnd;
  }
  return [...pieces, before.slice(at)].flat();
}

/** Length of the shortest edit script, by the table of the textbook. */
function distance(a: readonly string[], b: readonly string[]): number {
  let row = b.map((_, j) => j + 1);
  for (const [i, line] of a.entries()) {
    const next: number[] = [];
    for (const [j, other] of b.entries()) {
      const above = row[j]!;
      const left = j === 0 ? i + 1 : next[j - 1]!;
      const corner = j === 0 ? i : row[j - 1]!;
      next.push(line === other ? corner : 1 + Math.min(above, left));
    }
    row = next;
  }
  return row.at(-1) ?? a.length;
}

it("gives a shortest script that makes one text of the other", () => {
  const lines = fc.array(fc.constantFrom("x", "y", "z"), { maxLength: 30 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      expect(applied(before, after)).toEqual(after);
      const text = (all: readonly string[]) => all.map((line) => `${line}\n`).join("");
      expect(countChangedLines(text(before), text(after))).toBe(distance(before, after));
    }),
    { numRuns: 2_000 },
  );
});

// Larger than any exact search: a quadratic one would not come back before the test's time is up.
const MANY = 200_000;
const numbered = (prefix: string) => Array.from({ length: MANY }, (_, i) => `${prefix}${i}`);

it("finds every one of thousands of changes in a very long text", () => {
  const before = numbered("line ");
  const after = before.flatMap((line, i) => (i % 40 === 0 ? [`${line} changed`] : i % 40 === 20 ? [] : [line]));
  expect(lineChanges(before, after)).toHaveLength(MANY / 20);
  expect(applied(before, after)).toEqual(after);
});

it("replaces as a whole what has no line in common, and answers for very long texts that only repeat", () => {
  const [before, after] = [numbered("a"), numbered("b")];
  expect(lineChanges(before, after)).toEqual([{ beforeStart: 0, beforeEnd: MANY, afterStart: 0, afterEnd: MANY }]);
  const repeating = (step: number, kinds: number) => Array.from({ length: MANY }, (_, i) => `${(i * step) % kinds}`);
  const [one, other] = [repeating(7_919, 50), repeating(104_729, 51)];
  expect(applied(one, other)).toEqual(other);
});
