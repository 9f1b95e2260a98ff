// Checkers that stand outside the folders of tests: a file that the request's own checks name, and that decides instead of
// being decided about. Most files a test names are the work, so a name alone shows nothing; what the base's file holds does.
import { posix } from "node:path";
import { lazily } from "../lazily.js";
import { givesValuesOnly, isComparedAnswer, patternsIn, readCheck } from "./answers.js";
import { isDataModule, isTable } from "./tables.js";

/** How a text decides something; null when it does not. */
export type Decides =
  /** It asserts when it is run. */
  | "tests"
  /** It ends otherwise than with 0 when something is not so, as many programs do. */
  | "refuses"
  /** It compares what others hand to it. */
  | "compares"
  /** It looks at its own arguments, as most code does. */
  | "guards"
  /** It is no code: a golden, a fixture. */
  | "data";

export interface CheckerFacts {
  /** The text of a file on the untouched base; null when there is none. */
  readonly baseText: (path: string) => string | null;
  readonly decides: (path: string, text: string) => Decides | null;
  /** Texts of the request's own tests and commands. */
  readonly checkTexts: readonly string[];
  /** Names of files that a command or a shell test runs without arguments, with nobody reading its output. */
  readonly runAlone: ReadonlySet<string>;
  /** Files that are all of a criterion's command. */
  readonly wholeCommands: ReadonlySet<string>;
  /** Whether the base's own settings lead a runner to a file: a script of npm, a recipe of make, a pattern of mocha. */
  readonly isLedTo: (path: string) => boolean;
  /** Those of them that are named one by one. */
  readonly ledTo: readonly string[];
  /** Whether a file is a part of those settings: what make includes. */
  readonly isIncluded: (path: string) => boolean;
  /** The base's code outside of its tests; read only when it is needed. */
  readonly code: () => readonly { readonly path: string; readonly words: string }[];
  /** What the request asks for, in its own words. */
  readonly task: string;
  /** Names of the request's own tests. */
  readonly ownNames: ReadonlySet<string>;
}

const MOST_COMPARED = 100;

export interface NamedFiles {
  readonly isNamed: (path: string) => boolean;
  readonly isChecker: (path: string) => boolean;
}

/** Names of files that hold expectations. `validate.js` and `verify.py` are as often what a task asks for. */
const HOLDS_EXPECTATIONS =
  /(?:^|[-_.])(?:checks?|(?:self|smoke)?tests?|spec|asserts?|assertions?|expect|expected|golden|fixtures?|harness)(?:[-_.]|$)/i;

/** What is not there yet and only ever holds expectations: nobody brings the answers to his own questions. */
const ONLY_EXPECTATIONS = /(?:^|[-_.])(?:asserts?|assertions?|expect|expected|golden|fixtures?)(?:[-_.]|$)/i;

export function namedFiles({ checkTexts, task, ...facts }: CheckerFacts): NamedFiles {
  const names = wordsOf(checkTexts);
  const asked = wordsOf([task]);
  const askedFor = wordsOf([task.toLowerCase()]);
  const namesOfCode = lazily(() =>
    facts.code().map(({ path }) => ({ path, names: [posix.basename(path), stem(path)] })),
  );
  const wordsOfCode = lazily(() => facts.code().map(({ path, words }) => ({ path, words: wordsOf([words]) })));
  const words = extensionsIn(checkTexts);
  const compared = comparedWith(checkTexts);
  const patterns = lazily(() => patternsIn(checkTexts));
  const checks = lazily(() => checkTexts.map(readCheck));
  let looked = 0;
  const answers = new Map<string, boolean>();
  // A module is named as an import has it: `python3 -m shop.selftest`.
  const isNamed = (path: string) => names.has(posix.basename(path)) || facts.runAlone.has(posix.basename(path));
  const isAsked = (path: string) => asked.has(posix.basename(path));
  return {
    isNamed,
    isChecker: (path) => {
      const known = answers.get(path);
      if (known !== undefined) return known;
      const named = isNamed(path) || names.has(stem(path));
      const answer =
        !isAsked(path) &&
        ((named && decides(path)) ||
          isGolden(path) ||
          isLedToTest(path) ||
          isAnswer(path) ||
          isCases(path) ||
          isCompared(path));
      answers.set(path, answer);
      return answer;
    },
  };

  /** A file of the base that its settings lead to, and that tests or refuses. */
  function isLedToTest(path: string): boolean {
    if (!facts.isLedTo(path)) return false;
    const text = facts.baseText(path);
    const how = text === null ? null : facts.decides(path, text);
    return how === "tests" || how === "refuses";
  }

  /** Data that a file the settings lead to names, and that stands beside it. */
  function isAnswer(path: string): boolean {
    const beside = facts.ledTo.filter((test) => test !== path && posix.dirname(test) === posix.dirname(path));
    const names = (test: string) => facts.baseText(test)?.includes(posix.basename(path)) === true && isLedToTest(test);
    return beside.some(names) && facts.decides(path, facts.baseText(path) ?? "") === "data";
  }

  /** `cases/one.out`, where the checks speak of `cases` and `.out`; and the `cases/one.in` that belongs to it. */
  function isGolden(path: string): boolean {
    const folder = posix.basename(posix.dirname(path));
    const extension = posix.extname(path);
    if (extension === "" || !names.has(folder)) return false;
    if (CASES.test(folder) && facts.decides(path, facts.baseText(path) ?? "") === "data") return true;
    if (EXPECTED_EXTENSION.test(extension)) return words.has(extension);
    return EXPECTED_EXTENSIONS.some(
      (other) => words.has(other) && facts.baseText(`${path.slice(0, -extension.length)}${other}`) !== null,
    );
  }

  /** Questions with their answers that the tests put to the work, and that no other code reads. */
  function isCases(path: string): boolean {
    // Names first: a tree may hold any number of files, and few are named by a test.
    if (!isTestsOwn(path) || askedFor.has(stem(path).toLowerCase())) return false;
    const text = facts.baseText(path);
    if (text === null) return false;
    const folder = posix.basename(posix.dirname(path));
    if (facts.decides(path, text) !== "data") {
      return (CASE_NAMES.test(stem(path)) || CASE_NAMES.test(folder)) && isDataModule(text) && putsToWork(path);
    }
    return CASE_NAMES.test(folder) || (isTable(path, text) && putsToWork(path));
  }

  /** Data that no other code reads, and that a check compares with what the work says. */
  function isCompared(path: string): boolean {
    // Names first, as above.
    const name = posix.basename(path);
    if (!names.has(name) && !patterns().some(({ fits }) => fits.test(name))) return false;
    // A task that names files names all it means; one that names none may mean `totals.txt` by its totals.
    const namesFiles = namesOfCode().some(({ names: [name] }) => asked.has(name!));
    if ((!namesFiles && askedFor.has(stem(path).toLowerCase())) || readsElsewhere(path)) return false;
    const text = facts.baseText(path);
    if (text === null || (facts.decides(path, text) !== "data" && !givesValuesOnly(text))) return false;
    const code = namesOfCode().flatMap((file) => (file.path === path ? [] : file.names));
    // Nobody writes so many by hand, and each is looked for in all of the checks.
    looked += 1;
    if (looked > MOST_COMPARED) return false;
    return checks().some((check) => isComparedAnswer(check, { path, text, code, ownNames: facts.ownNames }));
  }

  function readsElsewhere(path: string): boolean {
    return wordsOfCode().some((file) => file.path !== path && file.words.has(posix.basename(path)));
  }

  /** The tests name it, and nothing else does. */
  function isTestsOwn(path: string): boolean {
    const isNamedIn = (words: ReadonlySet<string>): boolean => {
      const folder = words.has(posix.basename(posix.dirname(path)));
      return (
        words.has(posix.basename(path)) ||
        (folder && (words.has(stem(path)) || CASE_NAMES.test(posix.basename(posix.dirname(path)))))
      );
    };
    return isNamedIn(names) && !wordsOfCode().some((file) => file.path !== path && isNamedIn(file.words));
  }

  /** A test that names it names some code of the base, too. */
  function putsToWork(path: string): boolean {
    return checkTexts.some((text) => {
      const words = wordsOf([text]);
      const named = words.has(posix.basename(path)) || words.has(stem(path));
      return named && namesOfCode().some((file) => file.path !== path && file.names.some((name) => words.has(name)));
    });
  }

  function decides(path: string): boolean {
    const name = posix.basename(path);
    const text = facts.baseText(path);
    if (text === null) return ONLY_EXPECTATIONS.test(name);
    const how = facts.decides(path, text);
    if (how === "data" && compared.has(name)) return true;
    if (HOLDS_EXPECTATIONS.test(name) && how !== null) return true;
    if (how === "tests") return facts.runAlone.has(name);
    return how === "compares" || (how === "refuses" && facts.wholeCommands.has(path));
  }
}

/** Folders whose data are questions with their answers. */
const CASES = /^(?:cases|scenarios|vectors|test-?vectors|expected|expectations)$/;

/** Names of folders and modules that hold such, when nothing but the tests reads them. */
const CASE_NAMES =
  /^(?:(?:test-?)?(?:cases|vectors)|test-?data|scenarios|samples|corpus|corpora|inputs|outputs|questions|answers|expected|expectations|truth|oracle)$/i;

/** Endings of files that hold what a program should print. */
const EXPECTED_EXTENSIONS: readonly string[] =
  ".out .expected .exp .expect .want .wanted .gold .ref .ans .answer .answers .correct .stdout .stderr".split(" ");
const EXPECTED_EXTENSION = new RegExp(`^(?:${EXPECTED_EXTENSIONS.join("|").replaceAll(".", "\\.")})$`);

/** Endings that the checks speak of, such as the `.out` of `"${input%.in}.out"`. */
function extensionsIn(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => text.match(/\.[a-z]{2,8}\b/g) ?? []));
}

/** Names of files that a shell's line compares a program's output with. */
function comparedWith(texts: readonly string[]): ReadonlySet<string> {
  const lines = texts.flatMap((text) => text.match(/^.*\b(?:diff|cmp|comm)\b.*$/gm) ?? []);
  return wordsOf(lines.filter((line) => line.length < 2000 && /\s-(?=\s|$)|<\(/.test(line)));
}

/** Every word that could be a file's name, without folders. */
function wordsOf(texts: readonly string[]): ReadonlySet<string> {
  const words = new Set<string>();
  for (const text of texts) {
    for (const [word] of text.matchAll(/[\p{L}\p{N}_.@+-]+/gu)) words.add(word).add(word.replace(/\.+$/, ""));
  }
  return words;
}

/** A name as an import gives it: without its last extension. */
const stem = (path: string): string => posix.basename(path).replace(/\.[^.]+$/, "");
