// Negative controls: the same check with its expectations altered, by every form that applies. Work that is really right
// must then fail, as an assertion of the tests that were altered.
import type { Check, Control, TestResult } from "../model.js";
import { givesValuesOnly } from "../plan/answers.js";
import { sharesProcess, shellShares, testingCommands } from "../runners/in-process.js";
import { declares, ID_SEPARATOR, testId } from "../runners/outcomes.js";
import { type Recognised, recognise } from "../runners/recognise.js";
import type { TreeView } from "../runners/runner.js";
import { commandScript, interpreter } from "../runners/script.js";
import { aloneInScripts, aloneInTests } from "./alone.js";
import { readTestText, type TestLanguage, testLanguage } from "./assertions.js";
import { expectedControls } from "./expected.js";
import { extraTest } from "./extra-test.js";
import type { TestText } from "./languages/test-text.js";
import { withFailingEnd } from "./last-line.js";
import { ledLines } from "./lines/led-lines.js";
import { lineControls } from "./lines/line-controls.js";
import { allTests, goldenFiles, namedTests } from "./named-files.js";
import { applyEdits } from "./text/edit.js";
import { ALTERED, newWord } from "./text/marks.js";
import { unseenTests } from "./unseen.js";

export function controlsFor(check: Check, view: TreeView, seenTests: readonly TestResult[]): readonly Control[] {
  if (!check.automatic || check.kind === null) return [];
  if (check.kind === "api_test" || check.kind === "sql_check") return expectedControls(check);
  const recognised = recognise(check, view);
  const own = recognised === null ? plainControls(check, view) : runnerControls(recognised, view, seenTests);
  return [...own, ...expectedControls(check)];
}

const bytes = (text: string): Uint8Array => Buffer.from(text, "utf8");

/** One name when there is one file, a number when there are more. */
const filesNamed = (paths: readonly string[]): string => (paths.length === 1 ? paths[0]! : `${paths.length} files`);

interface TestFile {
  readonly path: string;
  readonly text: string;
  readonly read: TestText;
  /** What its tests' ids begin with. */
  readonly prefix: string;
}

function runnerControls(recognised: Recognised, view: TreeView, seen: readonly TestResult[]): Control[] {
  const files = seenFiles(recognised, view, seen);
  const alone = aloneInTests(files, seen);
  const unseen = unseenTests(recognised, view, seen);
  return [alteredTests(files, seen), addedTests(recognised, files), ...alone, unseen].filter(
    (control) => control !== null,
  );
}

/** The files whose tests were seen: nobody else's would be run. */
function seenFiles(recognised: Recognised, view: TreeView, seen: readonly TestResult[]): TestFile[] {
  const prefixes = [...new Set(seen.map(({ id }) => id.split(ID_SEPARATOR)[0]!))];
  const files: TestFile[] = [];
  const add = (path: string, prefix: (read: TestText) => string | undefined): void => {
    const text = view.read(path);
    if (text === null) return;
    const read = readTestText(path, text);
    const found = prefix(read);
    if (found !== undefined) files.push({ path, text, read, prefix: found });
  };
  for (const prefix of prefixes) add(prefix, () => prefix);
  if (files.length > 0) return files;
  // Go names packages, Java classes, Cargo files from the crate's own folder.
  const candidates =
    recognised.target !== null && view.read(recognised.target) !== null ? [recognised.target] : allTests(view);
  for (const path of candidates) {
    add(path, ({ tests }) => {
      const known = seen.find(({ id }) =>
        tests.some(({ names }) => id.endsWith(`${ID_SEPARATOR}${names.join(ID_SEPARATOR)}`)),
      );
      const names =
        known === undefined
          ? undefined
          : tests.find((test) => known.id.endsWith(`${ID_SEPARATOR}${test.names.join(ID_SEPARATOR)}`))?.names;
      return known === undefined || names === undefined
        ? undefined
        : known.id.slice(0, -`${ID_SEPARATOR}${names.join(ID_SEPARATOR)}`.length);
    });
  }
  return files;
}

function alteredTests(files: readonly TestFile[], seen: readonly TestResult[]): Control | null {
  const altered = new Map<string, Uint8Array>();
  const mustFail = new Set<string>();
  for (const { path, text, read, prefix } of files) {
    const isDocument = testLanguage(path, text) === "doctest";
    const usable = read.assertions.filter(
      ({ test, helper, edits }) => edits.length > 0 && (isDocument || test !== null || helper !== undefined),
    );
    if (usable.length === 0) continue;
    altered.set(
      path,
      bytes(
        applyEdits(
          text,
          usable.flatMap(({ edits }) => edits),
        ),
      ),
    );
    // A document is one test, whatever it is called.
    if (isDocument) for (const { id } of seen) if (id.startsWith(`${prefix}${ID_SEPARATOR}`)) mustFail.add(id);
    for (const { names } of failingTests(text, { ...read, assertions: usable })) {
      const pattern = { id: testId(prefix, names) };
      for (const { id, status } of seen) if (status === "passed" && declares(pattern, id)) mustFail.add(id);
    }
  }
  if (altered.size === 0) return null;
  const name = `altered expectations in ${filesNamed([...altered.keys()])}`;
  return { name, files: altered, mustFail: mustFail.size === 0 ? null : [...mustFail] };
}

/** Tests that hold an altered assertion which always runs, or call a function that does. */
function failingTests(text: string, { tests, assertions }: TestText) {
  const sure = assertions.filter((assertion) => assertion.sure);
  const direct = new Set(sure.flatMap(({ test }) => (test === null ? [] : [test])));
  const helpers = [...new Set(sure.flatMap(({ helper }) => (helper === undefined ? [] : [helper])))];
  const calls = new RegExp(`(?<![\\w.])(?:${helpers.map((name) => name.replace(/\W/g, "")).join("|")})\\s*\\(`);
  return tests.filter(
    (test) =>
      direct.has(test) || (helpers.length > 0 && test.names.length > 0 && calls.test(text.slice(test.start, test.end))),
  );
}

function addedTests({ runner }: Recognised, files: readonly TestFile[]): Control | null {
  const added = new Map<string, Uint8Array>();
  const mustFail: string[] = [];
  const packages = new Set<string>();
  for (const { path, text, prefix } of files) {
    const extra = testLanguage(path, text) === "doctest" ? null : extraTest(runner, text);
    // Go's tests share their package's names.
    if (extra === null || (runner === "go-test" && packages.has(prefix))) continue;
    packages.add(prefix);
    added.set(path, bytes(extra.text));
    mustFail.push(testId(prefix, extra.names));
  }
  return added.size === 0
    ? null
    : { name: `a failing test added to ${filesNamed([...added.keys()])}`, files: added, mustFail };
}

interface Plain {
  readonly script: string | null;
  readonly text: string;
  readonly language: TestLanguage | null;
  readonly forgeable: boolean;
}

function plainOf(check: Check, view: TreeView): Plain | null {
  const script = check.script ?? commandScript(check.command, view);
  if (script === null) {
    const { command } = check;
    return command === undefined
      ? null
      : { script: null, text: command, language: "shell", forgeable: shellShares(command, view, "") };
  }
  const text = view.read(script);
  if (text === null) return null;
  const language = testLanguage(script, text) ?? (interpreter(script, text)[0] === "sh" ? "shell" : null);
  return { script, text, language, forgeable: sharesProcess(script, view) };
}

function plainControls(check: Check, view: TreeView): Control[] {
  const plain = plainOf(check, view);
  if (plain === null) return [];
  const own = scriptControls(check, plain, view);
  const led = plain.script === null && (check.expected?.exit_code ?? 0) === 0 ? ledLines(plain.text, view) : null;
  if (led?.others.length === 0) return [...own, ...lineControls(led, view)];
  // Beside what decides by itself, another question alone shows nothing.
  if (own.length === 0 || leavesTestsAlone(plain, view, own)) return [];
  return led === null ? own : [...own, ...lineControls(led, view)];
}

/** A program tests the work, and of its tests nothing was altered: `make test && [ "$(uname)" = Linux ]`. */
function leavesTestsAlone(plain: Plain, view: TreeView, own: readonly Control[]): boolean {
  const { script, text, language, forgeable } = plain;
  if (language !== "shell" || !forgeable) return false;
  const altered = new Set(own.flatMap(({ files }) => [...files.keys()].filter((path) => path !== script)));
  const edits = readTestText(script ?? "command.sh", text, language).assertions.flatMap((assertion) => assertion.edits);
  return testingCommands(text, view).some(({ start, end }) => {
    if (edits.some((edit) => edit.start >= start && edit.end <= end)) return false;
    return !namedTests(text.slice(start, end), script, view).some((path) => altered.has(path));
  });
}

/** What of a check's own settings nothing could be altered of, in its words; null where that is not known. */
export function unaltered(check: Check, view: TreeView): string | null {
  const plain = recognise(check, view) === null ? plainOf(check, view) : null;
  const led = plain === null || plain.script !== null ? null : ledLines(plain.text, view);
  return led?.others[0]?.slice(0, MOST_WORDS) ?? null;
}

const MOST_WORDS = 200;

function scriptControls(check: Check, plain: Plain, view: TreeView): Control[] {
  const altered = alteredScript(plain, view);
  const last = failingEnd(check, plain);
  // Where the work runs inside the test, reaching the end alone shows nothing: the work could have skipped what is between.
  if (altered === null && plain.forgeable) return [];
  return [altered, last, alteredGoldens(plain, view, altered), ...alteredAlone(plain, view)].filter(
    (control) => control !== null,
  );
}

/** Names single tests: then nobody can say which of a file's tests are run. */
const SELECTS =
  /::\w|\s-(?:k|t|g|run)\b|--(?:grep|filter|testNamePattern|test-name-pattern)\b|\bunittest\b.*\.[A-Z]\w*/;

function alteredAlone({ script, text, language, forgeable }: Plain, view: TreeView): Control[] {
  if (!forgeable) return [];
  const own = script === null ? [] : [{ path: script, text, language }];
  const named = SELECTS.test(text) ? [] : namedTests(text, script, view);
  const files = [...own, ...named.map((path) => ({ path, text: view.read(path)! }))];
  return aloneInScripts(files, (path) => path === script);
}

function alteredScript({ script, text, language }: Plain, view: TreeView): Control | null {
  const files = new Map<string, Uint8Array>();
  const alter = (path: string, content: string, as?: TestLanguage): string | null => {
    const edits = readTestText(path, content, as).assertions.flatMap((assertion) => assertion.edits);
    return edits.length === 0 ? null : applyEdits(content, edits);
  };
  const own = language === null ? null : alter(script ?? "command.sh", text, language);
  for (const path of namedTests(text, script, view)) {
    const content = view.read(path)!;
    // A question turned round, about a value that was altered, too, has its old answer.
    if (own !== null && language === "shell" && givesValuesOnly(content)) continue;
    const other = alter(path, content);
    if (other !== null) files.set(path, bytes(other));
  }
  for (const path of goldenFiles(text, script, view)) files.set(path, altersGolden(view.read(path)!));
  if (own !== null && script !== null) files.set(script, bytes(own));
  const paths = [...files.keys()];
  const command = own !== null && script === null ? { check: { command: own } } : {};
  if (paths.length === 0 && own === null) return null;
  const where = script === null && own !== null ? ["the command", ...paths] : paths;
  return { name: `altered expectations in ${filesNamed(where)}`, files, ...command, mustFail: null };
}

const altersGolden = (content: string): Uint8Array => bytes(`${ALTERED}\n${content}`);

/** Goldens alone, where other expectations would fail before them: whoever copies his answers from them copies this, too. */
function alteredGoldens({ script, text }: Plain, view: TreeView, altered: Control | null): Control | null {
  const goldens = goldenFiles(text, script, view);
  if (
    altered === null ||
    goldens.length === 0 ||
    altered.files.size + (altered.check === undefined ? 0 : 1) === goldens.length
  )
    return null;
  const files = new Map(goldens.map((path) => [path, altersGolden(view.read(path)!)]));
  return { name: `altered expectations in ${filesNamed(goldens)} alone`, files, mustFail: null };
}

function failingEnd(check: Check, { script, text, language }: Plain): Control | null {
  const marker = newWord(20);
  const ended = withFailingEnd(text, language, marker, check.expected?.exit_code ?? 0);
  if (ended === null) return null;
  const name = "a failing last line";
  if (script === null) return { name, files: new Map(), check: { command: ended, marker }, mustFail: null };
  return { name, files: new Map([[script, bytes(ended)]]), check: { marker }, mustFail: null };
}
