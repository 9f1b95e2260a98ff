// vitest and jest, which write the same JSON, and playwright, which writes its own.
import type { TestResult } from "../model.js";
import { declaredTests, testsShareProcess } from "./declared.js";
import { ASSERTION, fromTree, plainText, skipped, testId, testsOutcome } from "./outcomes.js";
import type { Prepare, Preparing } from "./prepare.js";
import { joined } from "./recognise.js";
import type { PreparedRun, ReadRun } from "./runner.js";
import { plainPath } from "./script.js";

export const prepareVitest: Prepare = (preparing) => {
  const { recognised, room } = preparing;
  const report = `${room.reports}/vitest.json`;
  const where = recognised.target === null ? recognised.args : [recognised.target];
  return prepareJson(preparing, "vitest", {
    report,
    args: ["run", ...where, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    read: readJson,
  });
};

export const prepareJest: Prepare = (preparing) => {
  const { recognised, room } = preparing;
  const report = `${room.reports}/jest.json`;
  const where = recognised.target === null ? recognised.args : ["--runTestsByPath", recognised.target];
  const own = hasReporters(preparing);
  const lean = `${room.reports}/lean.cjs`;
  return prepareJson(preparing, "jest", {
    report,
    args: [
      ...where,
      "--json",
      `--outputFile=${report}`,
      ...(own ? [] : ["--reporters=default", `--reporters=${lean}`]),
    ],
    ...(own ? {} : { first: { path: lean, text: LEAN } }),
    read: readJson,
  });
};

/**
 * jest's report holds the values that a comparison was about, and where one of them leads back to itself it writes no report at all.
 * This leaves them out. It is loaded before the first test, so no work can put another in its place.
 */
const LEAN = `module.exports = class {
  onRunComplete(_, { testResults }) {
    for (const file of testResults) for (const test of file.testResults) delete test.failureDetails;
  }
};
`;

/** Settings that name reporters are the project's own, and naming others would switch them off. */
function hasReporters({ view, recognised: { cwd, args } }: Preparing): boolean {
  if (args.some((word) => word.startsWith("--reporters"))) return true;
  const settings = view.list(cwd).filter((name) => name === "package.json" || /^jest\.config\.\w+$/.test(name));
  return settings.some((name) => /\breporters\b/.test(view.read(joined(cwd, name)) ?? ""));
}

export const preparePlaywright: Prepare = (preparing) => {
  const { recognised, room } = preparing;
  const report = `${room.reports}/playwright.json`;
  const where = recognised.target === null ? recognised.args : [recognised.target];
  return prepareJson(preparing, "playwright", {
    report,
    args: ["test", ...where, "--reporter=json"],
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: report, PLAYWRIGHT_JSON_OUTPUT_FILE: report },
    read: readPlaywright,
  });
};

interface JsonRun {
  readonly report: string;
  readonly args: readonly string[];
  readonly env?: PreparedRun["env"];
  /** A file that has to be there before it starts. */
  readonly first?: { readonly path: string; readonly text: string };
  readonly read: ReadRun;
}

async function prepareJson({ view, room, recognised }: Preparing, name: string, run: JsonRun) {
  const script = recognised.target === null ? null : plainPath(recognised.target, view);
  if (script !== null && typeof script !== "string") return script;
  const program = await findRunner(name, recognised.cwd, { view, room });
  if (program === null) return skipped(`${name} is not installed`);
  return {
    ...started(program, run),
    cwd: recognised.cwd,
    ...(run.env === undefined ? {} : { env: run.env }),
    reportFiles: [run.report],
    forgeable: testsShareProcess(recognised, view),
    reading: { tree: room.tree, cwd: recognised.cwd, declared: declaredTests(recognised, view), read: run.read },
  };
}

function started(program: { command: string; note?: string }, { args, first }: JsonRun) {
  if (first === undefined) return { ...program, args };
  const script = 'cat >"$1" && shift && exec "$@" </dev/null';
  return {
    ...program,
    command: "sh",
    args: ["-c", script, "sh", first.path, program.command, ...args],
    stdin: { text: first.text },
  };
}

/** The project's own before a foreign one: it is what its tests were written for. */
async function findRunner(
  name: string,
  cwd: string,
  { view, room }: Pick<Preparing, "view" | "room">,
): Promise<{ command: string; note?: string } | null> {
  if (await room.answers(name, ["--version"])) return { command: name };
  for (const folder of [...foldersAbove(cwd), "files"]) {
    const own = joined(folder, `node_modules/.bin/${name}`);
    if (view.exists(own)) return { command: `${room.tree}/${own}`, note: `${name} came from the tree under test` };
  }
  return null;
}

function foldersAbove(folder: string): string[] {
  const parts = folder === "" ? [] : folder.split("/");
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join("/")), ""];
}

interface JsonReport {
  readonly testResults?: readonly {
    readonly name?: string;
    readonly message?: string;
    readonly status?: string;
    readonly assertionResults?: readonly {
      readonly ancestorTitles?: readonly string[];
      readonly title?: string;
      readonly status?: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

function parsed<T>(bytes: Uint8Array | undefined): T | null {
  try {
    const value: unknown = bytes === undefined ? null : JSON.parse(Buffer.from(bytes).toString("utf8"));
    return typeof value === "object" ? (value as T | null) : null;
  } catch {
    return null;
  }
}

const readJson: ReadRun = (check, { reading, reportFiles }, result, reports) => {
  const report = parsed<JsonReport>(reports.get(reportFiles[0]!));
  let broken: string | null = report === null ? "no report was written" : null;
  const tests: TestResult[] = [];
  const opened: string[] = [];
  for (const each of report?.testResults ?? []) {
    const file = fromTree(reading.tree, each.name ?? "");
    const own = each.assertionResults ?? [];
    opened.push(file);
    if (each.status === "failed" && !own.some(({ status }) => status === "failed")) broken = `${file} could not be run`;
    for (const { ancestorTitles = [], title = "", status, failureMessages } of own) {
      const [message = ""] = failureMessages ?? [];
      const id = testId(file, [...ancestorTitles.filter((name) => name !== ""), title]);
      if (status === "passed") tests.push({ id, status });
      else if (status === "failed") tests.push({ id, status, assertion: ASSERTION.test(plainText(message)) });
      else tests.push({ id, status: "skipped" });
    }
  }
  return testsOutcome(check, result, { tests, broken, opened }, reading.declared ?? []);
};

interface Suite {
  readonly title?: string;
  readonly file?: string;
  readonly suites?: readonly Suite[];
  readonly specs?: readonly {
    readonly title?: string;
    readonly file?: string;
    readonly tests?: readonly {
      readonly projectName?: string;
      readonly status?: string;
      readonly results?: readonly {
        readonly status?: string;
        readonly errors?: readonly { readonly message?: string }[];
      }[];
    }[];
  }[];
}

interface PlaywrightReport {
  readonly config?: { readonly rootDir?: string };
  readonly suites?: readonly Suite[];
  readonly errors?: readonly { readonly message?: string }[];
}

const SUITE_DEPTH = 20;

const readPlaywright: ReadRun = (check, { reading, reportFiles }, result, reports) => {
  const report = parsed<PlaywrightReport>(reports.get(reportFiles[0]!));
  const root = report?.config?.rootDir ?? reading.tree;
  const tests: TestResult[] = [];
  const visit = (suite: Suite, names: readonly string[], depth: number): void => {
    for (const spec of suite.specs ?? []) {
      const file = fromTree(reading.tree, `${root}/${spec.file ?? suite.file ?? ""}`);
      for (const each of spec.tests ?? []) {
        const project = each.projectName ? [`[${each.projectName}]`] : [];
        tests.push(toTest(testId(file, [...names, spec.title ?? "", ...project]), each));
      }
    }
    if (depth < SUITE_DEPTH)
      for (const inner of suite.suites ?? []) visit(inner, [...names, inner.title ?? ""], depth + 1);
  };
  for (const suite of report?.suites ?? []) visit(suite, [], 0);
  const [trouble] = report?.errors ?? [];
  const broken =
    report === null
      ? "no report was written"
      : trouble === undefined
        ? null
        : plainText(trouble.message ?? "").split("\n")[0]!;
  return testsOutcome(check, result, { tests, broken }, reading.declared ?? []);
};

type PlaywrightTest = NonNullable<NonNullable<Suite["specs"]>[number]["tests"]>[number];

function toTest(id: string, { status, results = [] }: PlaywrightTest): TestResult {
  if (status === "skipped") return { id, status: "skipped" };
  if (status === "expected") return { id, status: "passed" };
  const message = plainText(results.at(-1)?.errors?.[0]?.message ?? "");
  return { id, status: "failed", assertion: ASSERTION.test(message) || /\bexpect\(/.test(message) };
}
