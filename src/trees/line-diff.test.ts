import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { countLines, diffLines } from "./line-diff.js";

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
      expect(diffLines(before, after)).toBe(Number(out));
    }),
    { numRuns: 60 },
  );
  rmSync(folder, { recursive: true });
});

it("still answers for thousands of different lines", () => {
  const lines = (prefix: string) => Array.from({ length: 5_000 }, (_, i) => `${prefix}${i}\n`).join("");
  expect(diffLines(lines("a"), lines("b"))).toBe(10_000);
});
