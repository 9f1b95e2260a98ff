// TAP: `ok 1 - name`, `not ok 2 - name`, subtests four blanks deeper.
import type { TestResult } from "../model.js";
import { testId } from "./outcomes.js";

const LINE_LIMIT = 2000;

/** null when the text is no TAP. */
export function readTap(text: string, told: boolean): TestResult[] | null {
  const lines = text.split("\n");
  const start = lines.find((line) => line.trim() !== "") ?? "";
  if (!told && !/^(?:TAP version 1[34]|1\.\.[0-9]+\s*$)/.test(start.slice(0, 100))) return null;
  const tests: TestResult[] = [];
  let subtests: string[] = [];
  for (const raw of lines) {
    const line = raw.slice(0, LINE_LIMIT).trimEnd();
    const depth = Math.floor((line.length - line.trimStart().length) / 4);
    const plain = line.trimStart();
    if (plain.startsWith("# Subtest: ")) {
      subtests = [...subtests.slice(0, depth), plain.slice(11)];
      continue;
    }
    const point = /^(not )?ok\b[ \t]*([0-9]*)[ \t]*(?:- ?)?(.*)$/.exec(plain);
    if (point === null) continue;
    const [, not, number, rest = ""] = point;
    const hash = rest.search(/(?:^|\s)#\s*(?:skip|todo)\b/i);
    const name = (hash < 0 ? rest : rest.slice(0, hash)).trim();
    const skipped = hash >= 0;
    const status = skipped ? "skipped" : not === undefined ? "passed" : "failed";
    const id = testId("tap", [...subtests.slice(0, depth), name === "" ? `test ${number}` : name]);
    tests.push({ id, status, ...(status === "failed" ? { assertion: true } : {}) });
  }
  return planned(lines, tests);
}

/** A plan that is not met means tests that never ran. */
function planned(lines: readonly string[], tests: readonly TestResult[]): TestResult[] {
  const plan = lines
    .map((line) => /^1\.\.([0-9]{1,6})\b/.exec(line.slice(0, 100))?.[1])
    .find((count) => count !== undefined);
  const top = tests.filter(({ id }) => id.split(" > ").length === 2).length;
  if (plan === undefined || Number(plan) <= top) return [...tests];
  return [...tests, { id: testId("tap", ["the whole plan"]), status: "failed", assertion: false, promised: true }];
}
