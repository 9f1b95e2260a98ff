// node:test, through a reporter of our own that is handed over as a data URL: the same on Node 20, 22 and 24.

import type { TestResult } from "../model.js";
import { isTestFile } from "../plan/steering.js";
import { declaredTests, testsShareProcess } from "./declared.js";
import { jsonLines } from "./json-lines.js";
import { fromTree, skipped, testId, testsOutcome } from "./outcomes.js";
import type { Prepare } from "./prepare.js";
import { joined } from "./recognise.js";
import type { ReadRun, TreeView } from "./runner.js";

const REPORTER = `export default async function* (source) {
  for await (const { type, data } of source) {
    if (type !== "test:start" && type !== "test:pass" && type !== "test:fail") continue;
    const cause = data.details?.error?.cause;
    yield JSON.stringify({
      type: type.slice(5), name: data.name, nesting: data.nesting, file: data.file, suite: data.details?.type === "suite",
      skip: (data.skip ?? false) !== false || (data.todo ?? false) !== false, why: data.details?.error?.failureType, code: cause?.code,
      error: cause?.name, at: String(cause?.stack ?? "").split("\\n").find((line) => /^ *at /.test(line)),
    }) + "\\n";
  }
}`;

export const prepareNodeTest: Prepare = async ({ check, view, room, recognised }) => {
  const node = room.findProgram("node");
  if (node === null) return skipped("node is not installed");
  const { target, args, cwd } = recognised;
  const files = target === null ? args : testFiles(target, view);
  const report = `${room.reports}/node-test.jsonl`;
  const wanted = check.expected?.stdout_contains ?? [];
  const tap = [wanted].flat().some((text) => /^(?:#|ok |not ok )/.test(text));
  return {
    command: node,
    args: [
      "--test",
      `--test-reporter=data:text/javascript,${encodeURIComponent(REPORTER)}`,
      `--test-reporter-destination=${report}`,
      `--test-reporter=${tap ? "tap" : "spec"}`,
      "--test-reporter-destination=stdout",
      ...files,
    ],
    cwd,
    reportFiles: [report],
    forgeable: testsShareProcess(recognised, view),
    reading: { tree: room.tree, cwd, declared: declaredTests(recognised, view), read: readNodeTest },
  };
};

/** A folder means different things to different Nodes, so its files are named one by one. */
function testFiles(target: string, view: TreeView): string[] {
  if (view.read(target) !== null) return [target];
  const files: string[] = [];
  const visit = (folder: string, depth: number): void => {
    for (const name of view.list(folder)) {
      const path = joined(folder, name);
      if (!name.endsWith("/")) {
        if (/\.[cm]?js$/.test(name) && isTestFile(path)) files.push(path);
      } else if (depth < 20 && name !== "node_modules/") visit(path, depth + 1);
    }
  };
  visit(target, 0);
  const named = files.filter((path) => /\.(?:test|spec)\.[cm]?js$|(?:^|\/)test-[^/]*$/.test(path));
  return named.length > 0 ? named : files;
}

interface Line {
  readonly type: "start" | "pass" | "fail";
  readonly name: string;
  readonly nesting: number;
  readonly file?: string;
  readonly suite: boolean;
  readonly skip: boolean;
  readonly why?: string;
  readonly code?: string;
  readonly error?: string;
  readonly at?: string;
}

const readNodeTest: ReadRun = (check, { reading, reportFiles }, result, reports) => {
  const bytes = reports.get(reportFiles[0]!);
  const tests: TestResult[] = [];
  const names: string[] = [];
  const opened: string[] = [];
  let broken: string | null = bytes === undefined ? "no report was written" : null;
  for (const line of jsonLines<Line>(bytes)) {
    if (typeof line.name !== "string" || typeof line.nesting !== "number") continue;
    names.length = Math.min(names.length, line.nesting + 1);
    names[line.nesting] = line.name;
    const file = line.file === undefined ? "" : fromTree(reading.tree, line.file);
    // The file itself is reported as a test when it held none or could not be loaded.
    if (line.nesting === 0 && file !== "" && isFile(line.name, file, reading.cwd ?? "", reading.tree)) {
      if (line.type === "fail") broken = `${file} could not be run`;
      opened.push(file);
      continue;
    }
    if (line.type === "start" || line.suite) continue;
    const id = testId(
      file,
      names.slice(0, line.nesting + 1).map((name) => name ?? ""),
    );
    const passed = line.skip ? "skipped" : "passed";
    tests.push({
      id,
      status: line.type === "pass" ? passed : "failed",
      ...(line.type === "fail" ? { assertion: isAssertion(line) } : {}),
    });
  }
  return testsOutcome(check, result, { tests, broken, opened }, reading.declared ?? []);
};

/** By its whole path on Node 20, from where it was started on later ones. */
const isFile = (name: string, file: string, cwd: string, tree: string): boolean =>
  (name.startsWith("/") ? fromTree(tree, name) : joined(cwd, name)) === file;

function isAssertion({ why, code, error, at, file }: Line): boolean {
  if (why === "subtestsFailed") return true;
  if (why !== "testCodeFailure") return false;
  if (code === "ERR_ASSERTION" || error === "AssertionError") return true;
  // Tests written by hand throw what they like, from their own lines.
  return error === "Error" && file !== undefined && at?.includes(file) === true;
}
