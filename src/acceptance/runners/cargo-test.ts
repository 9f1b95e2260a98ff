// cargo test, by what the test programs print: the stable toolchain writes no other report.
import { posix } from "node:path";
import type { TestResult } from "../model.js";
import { declaredTests } from "./declared.js";
import { folderWith } from "./go-test.js";
import { type Declared, ID_SEPARATOR, skipped, testId, testsOutcome } from "./outcomes.js";
import type { Prepare } from "./prepare.js";
import { joined } from "./recognise.js";
import type { ReadRun, TreeView } from "./runner.js";
import { plainPath } from "./script.js";

const REPORT_BYTES = 16 * 1024 * 1024;
const LINE_LIMIT = 4000;

export const prepareCargoTest: Prepare = async ({ view, room, recognised }) => {
  if (!(await room.answers("cargo", ["--version"]))) return skipped("cargo is not installed");
  const { target, args, cwd } = recognised;
  const script = target === null ? null : plainPath(target, view);
  if (script !== null && typeof script !== "string") return script;
  const folder = script === null ? cwd : view.read(script) === null ? script : posix.dirname(script);
  const crate = script === null ? cwd : folderWith(view, folder, "Cargo.toml");
  const own =
    script !== null && /(?:^|\/)tests\/[^/]+\.rs$/.test(script) ? ["--test", posix.basename(script, ".rs")] : [];
  return {
    command: "sh",
    // Which program runs stands on standard error, its tests on the other: together they are in order.
    args: ["-c", 'exec cargo "$@" 2>&1', "sh", "test", "--offline", "--no-fail-fast", ...own, ...args.filter(isWanted)],
    cwd: crate,
    env: { CARGO_TERM_COLOR: "never", RUST_BACKTRACE: "0" },
    maxOutputBytes: REPORT_BYTES,
    reportFiles: [],
    forgeable: true,
    reading: {
      tree: room.tree,
      cwd: crate,
      declared: declaredTests(recognised, view).map(unlessConditional(view)),
      read: readCargoTest,
    },
  };
};

/** Tests that a build may leave out one by one. */
export const CONDITIONAL = /#!?\[cfg(?:_attr)?\s*\((?!\s*test\s*\))/;

const unlessConditional =
  (view: TreeView) =>
  (each: Declared): Declared =>
    CONDITIONAL.test(view.read(each.id.split(ID_SEPARATOR, 1)[0]!) ?? "") ? { ...each, inFile: false } : each;

/** What we say ourselves may be said once only, and what makes it quiet hides the names of its tests. */
const isWanted = (word: string): boolean => !/^(?:--offline|--no-fail-fast|-q|--quiet|--format=terse)$/.test(word);

const readCargoTest: ReadRun = (check, { reading }, result) => {
  const tests: TestResult[] = [];
  const asserted = new Set<string>();
  let file = "";
  let block: string | null = null;
  for (const raw of result.stdout.text.split("\n")) {
    const line = raw.slice(0, LINE_LIMIT);
    const running = /^\s+(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))/.exec(line);
    if (running !== null)
      file = running[1] === undefined ? `doc-tests ${running[2]}` : joined(reading.cwd ?? "", running[1]);
    const opened = /^---- (.+) stdout ----$/.exec(line)?.[1];
    if (opened !== undefined) block = testId(file, [opened]);
    else if (block !== null && isAssertion(line)) asserted.add(block);
    const test = /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)/.exec(line);
    if (test === null) continue;
    const id = testId(file, [test[1]!]);
    if (test[2] === "ok") tests.push({ id, status: "passed" });
    else if (test[2] === "FAILED") tests.push({ id, status: "failed" });
  }
  const told = tests.map((test) => (test.status === "failed" ? { ...test, assertion: asserted.has(test.id) } : test));
  const broken = /^error(?:\[E[0-9]+\])?: (?!test failed|[0-9]+ target)/m.test(result.stdout.text)
    ? "it could not be built"
    : null;
  return testsOutcome(check, result, { tests: told, broken }, cargoDeclared(reading.declared ?? [], told));
};

const isAssertion = (line: string): boolean =>
  /^assertion\b|^thread .* panicked at .*assertion|^note: (?:panic did not contain|test did not panic)|^Error: |did not panic as expected/.test(
    line,
  );

/** Unit tests have their module's name in front, which no file tells. */
const cargoDeclared = (declared: readonly Declared[], tests: readonly TestResult[]): Declared[] =>
  declared.filter(({ id }) => id.includes("tests/") || tests.length === 0);
