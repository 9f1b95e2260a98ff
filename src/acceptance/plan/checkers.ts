// Checkers that stand outside the folders of tests: a file that the request's own checks name, and that decides instead of
// being decided about. Most files a test names are the work, so a name alone shows nothing; what the base's file holds does.
import { posix } from "node:path";

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
  /** What the request asks for, in its own words. */
  readonly task: string;
}

export interface Named {
  readonly isNamed: (path: string) => boolean;
  readonly isChecker: (path: string) => boolean;
}

/** Names of files that hold expectations. `validate.js` and `verify.py` are as often what a task asks for. */
const HOLDS_EXPECTATIONS =
  /(?:^|[-_.])(?:checks?|tests?|spec|asserts?|assertions?|expect|expected|golden|fixtures?|harness)(?:[-_.]|$)/i;

/** What is not there yet and only ever holds expectations: nobody brings the answers to his own questions. */
const ONLY_EXPECTATIONS = /(?:^|[-_.])(?:asserts?|assertions?|expect|expected|golden|fixtures?)(?:[-_.]|$)/i;

export function namedFiles({ checkTexts, task, ...facts }: CheckerFacts): Named {
  const names = wordsOf(checkTexts);
  const asked = wordsOf([task]);
  const known = new Map<string, boolean>();
  const isAsked = (path: string) => asked.has(posix.basename(path));
  return {
    isNamed: (path) => names.has(posix.basename(path)),
    isChecker: (path) => {
      if (!names.has(posix.basename(path)) && !names.has(stem(path))) return false;
      const answer = known.get(path) ?? (!isAsked(path) && decides(path));
      known.set(path, answer);
      return answer;
    },
  };

  function decides(path: string): boolean {
    const name = posix.basename(path);
    const text = facts.baseText(path);
    if (text === null) return ONLY_EXPECTATIONS.test(name);
    const how = facts.decides(path, text);
    if (HOLDS_EXPECTATIONS.test(name) && how !== null) return true;
    if (how === "tests") return facts.runAlone.has(name);
    return how === "compares" || (how === "refuses" && facts.wholeCommands.has(path));
  }
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
