// Where the expectations of a test are, per language.
import { hasExamples, readDoctest } from "./languages/doctest.js";
import { readJavaScript } from "./languages/javascript.js";
import { readLoose } from "./languages/loose.js";
import { readPerl } from "./languages/perl.js";
import { readPython } from "./languages/python.js";
import { readShell } from "./languages/shell.js";
import { type Assertion, NO_TESTS, type TestText } from "./languages/test-text.js";
import { readTyped } from "./languages/typed.js";

export type { Assertion };

/** A text larger than this was not written by a person, and is left as it is. */
const READ_LIMIT = 1024 * 1024;

export type TestLanguage =
  | "javascript"
  | "python"
  | "shell"
  | "go"
  | "rust"
  | "java"
  | "c"
  | "perl"
  | "doctest"
  | "loose";

export function testLanguage(path: string, text: string): TestLanguage | null {
  if (/\.[cm]?[jt]sx?$/.test(path)) return "javascript";
  if (/\.py$/.test(path)) return "python";
  if (/\.(?:sh|bash|bats|zsh)$/.test(path)) return "shell";
  if (/\.go$/.test(path)) return "go";
  if (/\.rs$/.test(path)) return "rust";
  if (/\.(?:java|kt)$/.test(path)) return "java";
  if (/\.(?:c|cc|cpp|cxx|h|hpp)$/.test(path)) return "c";
  if (/\.(?:t|pl)$/.test(path) && /(?:^|;)\s*use\s+Test::/m.test(text)) return "perl";
  if (/\.(?:rb|php|lua)$/.test(path)) return "loose";
  if (/\.(?:md|rst|txt)$/.test(path)) return hasExamples(text) ? "doctest" : null;
  const [line = ""] = text.slice(0, 200).split("\n");
  if (!line.startsWith("#!")) return null;
  if (/\bpython/.test(line)) return "python";
  if (/\bnode\b/.test(line)) return "javascript";
  return /\b(?:ba|da|z|k)?sh\b/.test(line) ? "shell" : null;
}

/** What a test's text declares and expects; nothing in a language nobody reads here. */
export function readTestText(path: string, text: string, as?: TestLanguage): TestText {
  const language = as ?? testLanguage(path, text);
  if (language === null || text.length > READ_LIMIT) return NO_TESTS;
  switch (language) {
    case "javascript":
      return readJavaScript(path, text);
    case "python":
      return readPython(text);
    case "shell":
      return readShell(text);
    case "perl":
      return readPerl(text);
    case "doctest":
      return readDoctest(text);
    case "loose":
      return readLoose(text);
    default:
      return readTyped(text, language);
  }
}

export function findAssertions(path: string, text: string): readonly Assertion[] {
  return readTestText(path, text).assertions;
}
