// What a run comes to, told from how it ended and from the tests it reported.
import { constants } from "node:os";
import { posix } from "node:path";
import type { ChildResult } from "../../process/index.js";
import { nameMatches } from "../controls/languages/test-text.js";
import type { Check, Outcome, TestResult } from "../model.js";

export const ID_SEPARATOR = " > ";

/** The same in every run: the file and each name from the outside in. */
export const testId = (file: string, names: readonly string[]): string => [file, ...names].join(ID_SEPARATOR);

/** A path in the room as one from the tree's root. */
export function fromTree(tree: string, path: string): string {
  const plain = path.startsWith("file://") ? decodeURIComponent(path.slice(7)) : path;
  return posix.isAbsolute(plain) ? posix.relative(tree, plain) : posix.normalize(plain);
}

export const skipped = (reason: string): Outcome => ({ status: "skipped", reason });
export const failed = (reason: string, failure: NonNullable<Outcome["failure"]> = "other"): Outcome => ({
  status: "failed",
  reason,
  failure,
});

/** As a shell counts it, so that a sandbox in between makes no difference. */
export const exitOf = ({ code, signal }: ChildResult): number =>
  signal === null ? (code ?? 255) : 128 + constants.signals[signal];

/** Why its end alone is a failure; null when more has to be read. */
export function endFailure(check: Check, result: ChildResult): Outcome | null {
  if (result.reason === "timeout") return failed(`took longer than ${check.timeoutMs / 1000} s`);
  if (result.reason === "limit") return failed(`used more than ${result.exceeded}`);
  if (result.reason === "stopped") return failed("was interrupted");
  const wanted = check.expected?.exit_code ?? 0;
  const got = exitOf(result);
  return got === wanted ? null : failed(`exit ${got}, expected ${wanted}`);
}

/** A failure when standard output lacks what it should hold. */
export function outputFailure(check: Check, result: ChildResult): Outcome | null {
  const wanted = check.expected?.stdout_contains;
  for (const part of typeof wanted === "string" ? [wanted] : (wanted ?? [])) {
    if (!result.stdout.text.includes(part))
      return failed(`standard output does not contain ${JSON.stringify(part)}`, "assertion");
  }
  return null;
}

/** A test that the files under test declare, as an id that may have gaps. */
export interface Declared {
  readonly id: string;
  /** It is there in every run. */
  readonly sure: boolean;
  /** It is there whenever its file is opened. */
  readonly inFile: boolean;
  readonly skips: boolean;
}

export interface Reported {
  readonly tests: readonly TestResult[];
  /** Why the report as a whole is no pass: a file that could not be loaded, a build that failed. */
  readonly broken?: string | null;
  /** Files that the runner says it opened, as ids begin. */
  readonly opened?: readonly string[];
}

/** Tests are counted; the exit is only one more thing that must be right. */
export function testsOutcome(
  check: Check,
  result: ChildResult,
  { tests: reported, broken = null, opened = [] }: Reported,
  declared: readonly Declared[],
): Outcome {
  const allowed = declared.filter(({ skips }) => skips);
  const tests = numbered(reported).filter(
    ({ status, id }) => status !== "skipped" || !allowed.some((each) => declares(each, id)),
  );
  const bad = tests.filter(({ status }) => status === "failed");
  const silent = silentFiles(opened, reported, declared);
  const told = silent.length === 0 ? { tests } : { tests, silent };
  const failure = bad.some(({ assertion }) => assertion === true) && broken === null ? "assertion" : "other";
  const ended = endFailure(check, result);
  if (ended !== null) return { ...ended, failure: result.reason === "exited" ? failure : "other", ...told };
  const reason = countFailure(tests, declared, broken, opened);
  if (reason !== null) return { status: "failed", reason, failure, ...told };
  return { ...(outputFailure(check, result) ?? { status: "passed" }), ...told };
}

/** A file that ends well before its first test reports nothing, and looks as if it held none. */
function silentFiles(
  opened: readonly string[],
  tests: readonly TestResult[],
  declared: readonly Declared[],
): readonly string[] {
  const has = (rows: readonly { readonly id: string }[], file: string) =>
    rows.some(({ id }) => id.startsWith(`${file}${ID_SEPARATOR}`));
  const sure = declared.filter(({ inFile, skips }) => inFile && !skips);
  return [...new Set(opened)].filter((file) => has(sure, file) && !has(tests, file));
}

function countFailure(
  tests: readonly TestResult[],
  declared: readonly Declared[],
  broken: string | null,
  opened: readonly string[],
): string | null {
  if (broken !== null) return broken;
  const bad = tests.find(({ status }) => status !== "passed");
  if (bad !== undefined) return `${bad.id} ${bad.status === "failed" ? "failed" : "was skipped"}`;
  if (tests.length === 0) return "no tests were run";
  const files = new Set([...opened, ...tests.map(({ id }) => fileOf(id))]);
  const missing = declared.find(
    (each) =>
      (each.sure || (each.inFile && files.has(fileOf(each.id)))) &&
      !each.skips &&
      !tests.some(({ id }) => declares(each, id)),
  );
  return missing === undefined ? null : `${missing.id} was not reported`;
}

const fileOf = (id: string): string => id.split(ID_SEPARATOR, 1)[0]!;

/** Whether an id belongs to a declared test; one that takes parameters is reported with them in brackets. */
export function declares({ id: pattern }: Pick<Declared, "id">, id: string): boolean {
  const plain = id.replace(/ #[0-9]+$/, "");
  if (nameMatches(pattern, plain)) return true;
  const bracket = plain.indexOf("[", plain.lastIndexOf(ID_SEPARATOR));
  return bracket > 0 && nameMatches(pattern, plain.slice(0, bracket));
}

/** Two tests of one name are told apart by their order. */
function numbered(tests: readonly TestResult[]): TestResult[] {
  const seen = new Map<string, number>();
  return tests.map((test) => {
    const count = (seen.get(test.id) ?? 0) + 1;
    seen.set(test.id, count);
    return count === 1 ? test : { ...test, id: `${test.id} #${count}` };
  });
}

export function logOf({ stdout, stderr }: ChildResult): string {
  return stderr.text === "" ? stdout.text : `${stdout.text}\n--- stderr ---\n${stderr.text}`;
}

export const ASSERTION =
  /^(?:[\w.]*Assertion\w*Error|AssertionFailedError|Error: expect(?:ed)?\b|expect\(|assert\b|Failed:)/;

/** Colours are for people at a terminal. */
export const plainText = (text: string): string => text.slice(0, 20_000).replace(/\u001b\[[0-9;]*m/g, "");
