// What the files under test declare, so that a test that silently goes missing is missed.
import { readTestText } from "../controls/assertions.js";
import { allTests } from "../controls/named-files.js";
import { sharesProcess } from "./in-process.js";
import { type Declared, testId } from "./outcomes.js";
import { joined, type Recognised } from "./recognise.js";
import type { TreeView } from "./runner.js";

/** Author's words that choose among the tests: then nobody knows how many there should be. */
const CHOOSES =
  /^(?:-k|-m|-t|-g|--grep|--test-name-pattern|--testNamePattern|-run|--test-only|--deselect|--shard|--changed|--lf)\b/;

/** The same in the project's own settings. */
const SETTINGS_CHOOSE =
  /addopts[\s\S]{0,300}?[\s"'=](?:-k|-m|--deselect)\b|testNamePattern|pytest_collection_modifyitems|pytest_deselected|pytest_ignore_collect|collect_ignore|pytest_pycollect/;
const SETTINGS = [
  ...["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml"],
  ...["conftest.py", "tests/conftest.py", "test/conftest.py", "package.json"],
  ...["jest", "vitest", "vite"].flatMap((name) =>
    ["js", "mjs", "cjs", "ts", "mts"].map((ending) => `${name}.config.${ending}`),
  ),
];

/** Whether the author leaves out some of the tests that are loaded: then nobody knows how many there should be. */
export function settingsChoose({ cwd }: Recognised, view: TreeView): boolean {
  const texts = [...new Set([cwd, ""])].flatMap((folder) =>
    SETTINGS.map((name) => view.read(joined(folder, name)) ?? ""),
  );
  return texts.some((text) => SETTINGS_CHOOSE.test(text));
}

const PYTEST_SECTION = /^\[(?:pytest|tool:pytest|tool\.pytest\b[^\]]*)\]/m;

/** `pytest` alone, with no settings, runs every file that is called like a test. */
function findsAll({ runner, args, cwd }: Recognised, view: TreeView): boolean {
  if (runner !== "pytest" || cwd !== "" || !args.every((word) => /^-(?:[vqxsl]+|-verbose|-quiet)$/.test(word)))
    return false;
  return !SETTINGS.some((name) => PYTEST_SECTION.test(view.read(name) ?? ""));
}

/** By its name, in a folder that pytest goes into. */
const isFound = (path: string): boolean =>
  /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path) &&
  !/(?:^|\/)(?:\.[^/]*|build|dist|node_modules|venv|_darcs|CVS|[^/]*\.egg)\//.test(path);

/** The tests of the files a check names; of all test files, none of them sure, when it names none. */
export function declaredTests(recognised: Recognised, view: TreeView): Declared[] {
  const chosen = recognised.args.some((word) => CHOOSES.test(word) || word.includes("::"));
  const named = namedTargets(recognised, view);
  const settings = settingsChoose(recognised, view);
  const all = findsAll(recognised, view) && !settings;
  return (named.length > 0 ? named : allTests(view)).flatMap((file) => {
    const text = view.read(file);
    if (text === null) return [];
    return readTestText(file, text).tests.map(({ names, sure, skips }) => ({
      id: testId(file, names),
      sure: sure && !chosen && (named.length > 0 || (all && isFound(file))),
      inFile: sure && !chosen && !settings,
      skips,
    }));
  });
}

/** Whether any of the tests runs in one process with the work; unknown tests are taken to. */
export function testsShareProcess(recognised: Recognised, view: TreeView): boolean {
  const named = namedTargets(recognised, view);
  return named.length === 0 || named.some((file) => sharesProcess(file, view));
}

/** The files a check names itself: its script, or words of its command that are files. */
function namedTargets({ target, args, cwd }: Recognised, view: TreeView): string[] {
  const words = args.filter((word) => !word.startsWith("-")).map((word) => joined(cwd, word.split("::")[0]!));
  return (target === null ? words : [target]).filter((path) => view.read(path) !== null);
}
