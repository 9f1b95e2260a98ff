// Tests that nobody reported. Work that is loaded with its test can leave before the first of them, or take them out of what
// the runner found; where the untouched base cannot be loaded either, nobody knows that they are missing. So files whose tests
// were not seen are made unfit to be loaded: a check that then fails had read them, and kept silent.
import { posix } from "node:path";
import type { Control, TestResult } from "../model.js";
import { CONDITIONAL } from "../runners/cargo-test.js";
import { settingsChoose } from "../runners/declared.js";
import { folderWith, moduleName } from "../runners/go-test.js";
import { ID_SEPARATOR } from "../runners/outcomes.js";
import { joined, type Recognised, type RunnerKind } from "../runners/recognise.js";
import type { TreeView } from "../runners/runner.js";
import { readTestText } from "./assertions.js";
import { allFiles, allTests } from "./named-files.js";
import { newWord } from "./text/marks.js";

interface Spoiling {
  /** What the runner takes for a test by its name. */
  readonly isTest: RegExp;
  /** The text as it cannot be loaded, wherever it would be; what leaves a file out of a build stays. */
  readonly spoiled: (text: string) => string;
}

const script: Spoiling = { isTest: /\.(?:test|spec)\.[cm]?[jt]sx?$/, spoiled: () => ")(\n" };

const SPOILING: Partial<Record<RunnerKind, Spoiling>> = {
  "node-test": { ...script, isTest: /\.test\.[cm]?js$|(?:^|\/)test-[^/]*\.[cm]?js$|(?:^|\/)test\/[^/]+\.[cm]?js$/ },
  vitest: script,
  jest: script,
  pytest: {
    isTest: /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/,
    spoiled: (text) => `raise RuntimeError(${JSON.stringify(newWord())})\n${text}`,
  },
  "go-test": { isTest: /_test\.go$/, spoiled: (text) => `${text}\nvar ${newWord()} int = "${newWord()}"\n` },
  "cargo-test": { isTest: /\.rs$/, spoiled: (text) => `${text}\n#[cfg(test)]\ncompile_error!("${newWord()}");\n` },
};

/** Words by which an author chooses among tests that are loaded all the same. */
const CHOOSES =
  /^(?:-[kmt]\b|--test-name-pattern|--testNamePattern|-run\b|--test-only|--deselect|--shard|--changed|--lf|--ff)/;

/** Cargo takes any other word for a part of the names it should run. */
const CARGO_PLACES = /^(?:-p|--package|--exclude|--test|--bin|--example|--features|--profile|-j|--jobs|--target)$/;
const namesTests = (args: readonly string[]): boolean =>
  args.some((word, at) => !word.startsWith("-") && !CARGO_PLACES.test(args[at - 1] ?? "")) || args.includes("--");
const MOST_FILES = 50;

export function unseenTests(recognised: Recognised, view: TreeView, seen: readonly TestResult[]): Control | null {
  const { runner, target, args } = recognised;
  const how = SPOILING[runner];
  if (how === undefined || target !== null || args.some((word) => CHOOSES.test(word) || word.includes("::")))
    return null;
  if (runner === "cargo-test" && namesTests(args)) return null;
  if (settingsChoose(recognised, view)) return null;
  const files = new Map<string, Uint8Array>();
  const places = runner === "cargo-test" ? allFiles(view, (path) => how.isTest.test(path)) : allTests(view);
  for (const path of places) {
    const text = how.isTest.test(path) && files.size < MOST_FILES ? view.read(path) : null;
    if (text === null || !isSilent(runner, path, text, seen, view)) continue;
    files.set(path, Buffer.from(how.spoiled(text), "utf8"));
  }
  if (files.size === 0) return null;
  const [first] = files.keys();
  const name = files.size === 1 ? `${first} unfit to be loaded` : `${files.size} files of tests unfit to be loaded`;
  return { name, files, mustFail: null, mustPass: true };
}

/** It holds tests that always run, and none of them was seen; in Rust, whose files have no name in the report, not all of them. */
function isSilent(
  runner: RunnerKind,
  path: string,
  text: string,
  seen: readonly TestResult[],
  view: TreeView,
): boolean {
  const tests = readTestText(path, text).tests.filter(({ sure, skips }) => sure && !skips);
  if (tests.length === 0 || /\.only\b/.test(text)) return false;
  const isOf = (id: string, names: readonly string[]): boolean => {
    const [head = "", ...rest] = id.split(ID_SEPARATOR);
    const last = names.at(-1)!;
    if (runner === "go-test") {
      return isPackage(head, path, view) && rest[0] === last;
    }
    return runner === "cargo-test" ? rest.join("::").endsWith(last) : head === path;
  };
  const isSeen = ({ names }: (typeof tests)[number]) => seen.some(({ id }) => isOf(id, names));
  return runner === "cargo-test" && !CONDITIONAL.test(text) ? !tests.every(isSeen) : !tests.some(isSeen);
}

/** Whether a package is the one that Go makes of a file's folder. */
function isPackage(name: string, path: string, view: TreeView): boolean {
  const folder = posix.dirname(path) === "." ? "" : posix.dirname(path);
  const module = folderWith(view, folder, "go.mod");
  const own = moduleName(view.read(joined(module, "go.mod")));
  if (own === null) return folder === "" || name.endsWith(`/${posix.basename(folder)}`);
  return name === posix.join(own, posix.relative(module, folder));
}
