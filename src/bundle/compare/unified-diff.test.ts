import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { unifiedDiff } from "./unified-diff.js";

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

  it("tells a missing last line break", () => {
    expect(unifiedDiff("a\n", "a")).toEqual(["@@ -1,1 +1,1 @@", " a", "+\\ No newline at end of file"]);
  });
});
