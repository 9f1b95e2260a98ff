// What a diff shows of a file: which lines, in which colours, with which words marked.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeRows } from "../../src/web/page/diff/change-tree.js";
import { changeStarts, shownRows } from "../../src/web/page/diff/fold.js";
import { colouredLines, piecesOf, wordRanges } from "../../src/web/page/diff/pieces.js";
import { remarksText } from "../../src/web/page/diff/remarks-text.js";
import { format } from "../../src/web/page/format/format.js";
import type { ComparedRow } from "../../src/web/view/model.js";
import { sideBySide } from "../../src/web/view/side-by-side.js";

const long = Array.from({ length: 100 }, (_, i) => `line ${i}`);
const lines = sideBySide(long.join("\n"), long.with(20, "other").with(70, "another").join("\n"));

describe("the lines that are shown", () => {
  it("are those near a change; the rest stands behind gaps that open one by one", () => {
    const rows = shownRows(lines, new Set());
    const gaps = rows.flatMap((row) => (row.kind === "gap" ? [[row.from, row.to]] : []));
    expect(gaps).toEqual([
      [0, 16],
      [25, 66],
      [75, 100],
    ]);
    expect(changeStarts(rows).map((at) => rows[at])).toMatchObject([{ at: 20 }, { at: 70 }]);
    const opened = shownRows(lines, new Set(long.slice(0, 16).map((_, at) => at)));
    expect(opened.filter(({ kind }) => kind === "gap")).toHaveLength(2);
  });

  it("are all there once every gap is open", () => {
    const all = shownRows(lines, new Set(lines.map((_, at) => at)));
    expect(all.map((row) => row.kind === "line" && row.line)).toEqual(lines);
  });
});

describe("a line in pieces", () => {
  it("marks the words that differ, several in one line", () => {
    expect(wordRanges("let total = a + b;", "let sum = a + c;")).toEqual([
      [
        [4, 9],
        [16, 17],
      ],
      [
        [4, 7],
        [14, 15],
      ],
    ]);
    expect(wordRanges("abc", "xyz")).toEqual([[], []]);
  });

  it("has the highlighter's colours, over the ends of lines, and loses no character", () => {
    const source = '/* one\n two */\nconst a = "<b>&\'";\n';
    const answer = format({ kind: "code", text: source, language: "typescript" });
    if (answer.kind !== "code") throw new Error(answer.kind);
    const coloured = colouredLines(answer.html);
    expect(coloured.map((parts) => parts.map(({ text }) => text).join("")).join("\n")).toBe(source);
    expect(coloured[1]).toEqual([{ text: " two */", class: "hljs-comment" }]);
  });

  it("is whole whatever is marked and coloured", () => {
    const part = fc.record({ text: fc.string({ minLength: 1, maxLength: 8 }), class: fc.constantFrom("", "a") });
    fc.assert(
      fc.property(fc.array(part), fc.nat(20), fc.nat(20), (coloured, from, length) => {
        const text = coloured.map((each) => each.text).join("");
        const pieces = piecesOf(text, coloured, [[from, from + length]]);
        expect(pieces.map((each) => each.text).join("")).toBe(text);
        expect(
          pieces
            .filter((each) => each.isChanged)
            .map((each) => each.text)
            .join(""),
        ).toBe(text.slice(from, from + length));
      }),
    );
  });
});

describe("the tree of changed files", () => {
  const file = (path: string): ComparedRow => ({
    ...{ path, before: path, after: path, change: "changed", sizeBefore: 1, sizeAfter: 1, stamp: "" },
  });
  it("joins folders that hold one folder, sums below them, and closes", () => {
    const files = [file("README.md"), file("src/web/a.ts"), file("src/web/b.ts")];
    const counts = new Map(files.map(({ path }, at) => [path, { added: at + 1, removed: 1 }]));
    const names = (closed: string[]) =>
      changeRows(files, new Set(closed), counts).map((row) => [
        row.depth,
        row.name,
        row.kind === "folder" && row.counted,
      ]);
    expect(names([])).toEqual([
      [0, "src/web", { added: 5, removed: 2 }],
      [1, "a.ts", false],
      [1, "b.ts", false],
      [0, "README.md", false],
    ]);
    expect(names(["src/web"])).toHaveLength(2);
  });

  it("has no limit", () => {
    const files = Array.from({ length: 3_000 }, (_, at) => file(`src/part-${at % 30}/file-${at}.ts`));
    expect(changeRows(files, new Set(), new Map()).filter(({ kind }) => kind === "file")).toHaveLength(3_000);
  });
});

it("sends remarks as one answer", () => {
  const about = "src/a.ts:12";
  expect(
    remarksText([
      { about, quote: "  let x;", text: "use const" },
      { about: "AC-1", quote: "", text: "in UTC" },
    ]),
  ).toBe("src/a.ts:12 (let x;): use const\nAC-1: in UTC");
});
