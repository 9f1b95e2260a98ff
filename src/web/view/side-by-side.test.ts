import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countSides, sideBySide } from "./side-by-side.js";

const kinds = (before: string, after: string) =>
  sideBySide(before, after).map(({ kind, left, right }) => [kind, left, right]);

describe("sideBySide", () => {
  it("stands a changed line beside what it became", () => {
    expect(kinds("a\nb\nc\n", "a\nB\nc\n")).toEqual([
      ["same", "a", "a"],
      ["changed", "b", "B"],
      ["same", "c", "c"],
    ]);
  });

  it("leaves the other side empty for what was added or removed", () => {
    expect(kinds("a\nc\n", "a\nb\nc\n")).toContainEqual(["added", "", "b"]);
    expect(kinds("a\nb\nc\n", "a\nc\n")).toContainEqual(["removed", "b", ""]);
  });

  it("counts what was gained and lost", () => {
    expect(countSides("a\nb\nc\n", "a\nB\nc\nd\n")).toEqual([2, 1]);
    expect(countSides("", "x\n")).toEqual([1, 0]);
  });

  it("loses no line of either side", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const rows = sideBySide(before.join("\n"), after.join("\n"));
        expect(rows.filter((row) => row.before !== null).map(({ left }) => left)).toEqual(before);
        expect(rows.filter((row) => row.after !== null).map(({ right }) => right)).toEqual(after);
        for (const row of rows) if (row.kind === "same") expect(row.left).toBe(row.right);
      }),
    );
  });
});
