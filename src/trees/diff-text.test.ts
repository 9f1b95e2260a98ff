import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { lineDiff, unifiedDiff } from "./diff-text.js";

const work = mkdtempSync(join(tmpdir(), "nut-diff-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** What `patch`-like tools make of it: the text with the hunks applied. */
function apply(before: string, diff: readonly string[]): string {
  const all = before === "" ? [] : before.split("\n").slice(0, -1);
  const out: string[] = [];
  let at = 0;
  for (const line of diff) {
    const hunk = /^@@ -(\d+),(\d+)/.exec(line);
    if (hunk !== null) {
      const start = Number(hunk[2]) === 0 ? Number(hunk[1]) : Number(hunk[1]) - 1;
      out.push(...all.slice(at, start));
      at = start;
    } else if (line.startsWith("+")) out.push(line.slice(1));
    else {
      expect(all[at]).toBe(line.slice(1));
      if (line.startsWith(" ")) out.push(line.slice(1));
      at += 1;
    }
  }
  out.push(...all.slice(at));
  return out.map((line) => `${line}\n`).join("");
}

const text = fc
  .array(fc.constantFrom("a", "b", "c", "d", ""), { maxLength: 25 })
  .map((lines) => lines.map((line) => `${line}\n`).join(""));

describe("unifiedDiff", () => {
  it("says nothing about equal texts", () => {
    fc.assert(
      fc.property(text, (same) => {
        expect(unifiedDiff(same, same)).toEqual([]);
      }),
    );
  });

  it("turns one text into the other", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(apply(before, unifiedDiff(before, after))).toBe(after);
      }),
    );
  });

  it("looks like diff -u", () => {
    const a = Array.from({ length: 30 }, (_, i) => `line ${i}\n`).join("");
    const b = a.replace("line 4\n", "line four\nand more\n").replace("line 25\n", "");
    writeFileSync(join(work, "a"), a);
    writeFileSync(join(work, "b"), b);
    const { stdout, error } = spawnSync("diff", ["-u", "a", "b"], { cwd: work, encoding: "utf8" });
    if (error !== undefined) return;
    expect(unifiedDiff(a, b)).toEqual(stdout.split("\n").slice(2, -1));
    expect(readFileSync(join(work, "a"), "utf8")).toBe(a);
  });

  it("joins two changes with six lines between them, as diff -u does", () => {
    const a = Array.from({ length: 12 }, (_, i) => `${i}`);
    const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
    const hunks = (second: number) =>
      unifiedDiff(text(a), text(a.with(2, "x").with(second, "y"))).filter((line) => line.startsWith("@@"));
    expect(hunks(9)).toEqual(["@@ -1,12 +1,12 @@"]);
    expect(hunks(10)).toEqual(["@@ -1,6 +1,6 @@", "@@ -8,5 +8,5 @@"]);
  });

  it("tells a missing last line break", () => {
    expect(unifiedDiff("a\n", "a")).toEqual(["@@ -1,1 +1,1 @@", " a", "+\\ No newline at end of file"]);
  });
});

describe("lineDiff", () => {
  const lines = (...all: string[]) => all.map((line) => `${line}\n`).join("");
  const shown = (before: string | null, after: string | null) =>
    lineDiff(before, after).map(({ sign, text }) => sign + text);

  it("shows two lines around each change and a mark between", () => {
    const before = lines("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11");
    const after = before.replace("3\n", "three\n").replace("9\n", "");
    expect(shown(before, after)).toEqual([
      " 1",
      " 2",
      "-3",
      "+three",
      " 4",
      " 5",
      "@…",
      " 7",
      " 8",
      "-9",
      " 10",
      " 11",
    ]);
  });

  it("shows a new file as added and one that goes as removed", () => {
    expect(shown(null, "a\nb\n")).toEqual(["+a", "+b"]);
    expect(shown("a\n", null)).toEqual(["-a"]);
    expect(shown("a\n", "a\n")).toEqual([]);
  });
});
