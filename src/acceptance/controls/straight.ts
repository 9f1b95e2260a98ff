// Expectations that a test reaches whenever it is run to its end: none in a branch, a loop, a callback or behind a return.
// Only of those can it be said that altering one alone must make the test fail.
import { readTestText, type TestLanguage } from "./assertions.js";
import { innermost } from "./languages/javascript.js";
import { PythonText } from "./languages/python-lines.js";
import { Source } from "./languages/source.js";
import type { Assertion, DeclaredTest, TestText } from "./languages/test-text.js";
import { expectedRows, type Row } from "./rows.js";
import { type Language, maskText } from "./text/mask.js";

/** What runs in one go: a test, or what stands outside of every test. In the order of the text. */
export interface Straight {
  readonly test: DeclaredTest | null;
  readonly assertions: readonly Assertion[];
}

export function straightAssertions(path: string, text: string, language: TestLanguage): Straight[] {
  const read = readTestText(path, text, language);
  const { assertions } = read;
  const isStraight = straightIn(text, language);
  const groups = new Map<DeclaredTest | null, Assertion[]>();
  const functionAround = functionsOf(text, language);
  const rows = expectedRows(text, language, read).map((row) => placed(row, read, functionAround));
  for (const assertion of [...assertions, ...rows].sort((a, b) => a.start - b.start)) {
    const { sure, weak, edits, test } = assertion;
    if (!sure || weak === true || edits.length === 0 || !isStraight(assertion)) continue;
    if (test !== null && failsOnPurpose(text, test)) continue;
    const group = groups.get(test);
    if (group === undefined) groups.set(test, [assertion]);
    else group.push(assertion);
  }
  // A document has no way out: each of its examples is tried.
  const ends = language === "doctest" ? () => false : wayOut(text, language, assertions);
  const main = /\bmain\s*\(/.exec(text)?.index ?? 0;
  // Outside of every function nothing returns.
  const begins = ({ test, helper }: Assertion) => test?.start ?? (helper === undefined ? null : main);
  const isReached = (assertion: Assertion) => {
    const from = begins(assertion);
    return from === null || !ends(from, assertion.start);
  };
  return [...groups].map(([test, all]) => ({ test, assertions: all.filter(isReached) }));
}

type FunctionAround = (at: number) => string | undefined;

function placed(row: Row, { tests }: TestText, functionAround: FunctionAround): Assertion {
  const test = innermost(tests, row.start);
  const helper = test === null ? functionAround(row.start) : undefined;
  return { ...row, test, sure: true, ...(helper === undefined ? {} : { helper }) };
}

function functionsOf(text: string, language: TestLanguage): FunctionAround {
  if (language === "python" || isLines(language)) return () => undefined;
  const source = new Source(text, language);
  return (at) => source.function(at);
}

type IsStraight = (assertion: Assertion) => boolean;

function straightIn(text: string, language: TestLanguage): IsStraight {
  if (language === "perl" || language === "doctest" || language === "loose") return () => true;
  if (language === "shell") return ({ test, helper }) => test === null && helper === undefined;
  return language === "python" ? straightPython(text) : straightBraces(text, language);
}

function straightPython(text: string): IsStraight {
  const source = new PythonText(text);
  const places = new Map(source.statements.map(({ start }, index) => [start, index]));
  return ({ start, test, helper }) => {
    const index = places.get(start);
    if (index === undefined) return false;
    const outer = source.statements[index]!.outer;
    return test === null
      ? outer < 0 && helper === undefined
      : outer >= 0 && source.statements[outer]!.start === test.start;
  };
}

type Braces = Exclude<TestLanguage, "python" | Lines>;

/** Languages without blocks that are read here. */
type Lines = "shell" | "perl" | "doctest" | "loose";
const isLines = (language: TestLanguage): language is Lines => /^(?:shell|perl|doctest|loose)$/.test(language);

/** The nearest bracket around it opens the body of its test, of main, or there is none. */
function straightBraces(text: string, language: Braces): IsStraight {
  const source = new Source(text, language);
  const block = (at: number): number => {
    let open = source.outer(at);
    while (open >= 0 && source.mask[open] !== "{") open = source.outer(open);
    return open;
  };
  return ({ start, test, helper }) => {
    const open = source.outer(start);
    if (/\b(?:for|while|do|if|else)\b/.test(source.header(start))) return false;
    if (test === null) {
      return open < 0 ? helper === undefined : helper === "main" && /\bmain\s*\([^{}]*$/.test(source.header(open));
    }
    return open >= test.start && source.mask[open] === "{" && block(open) < test.start;
  };
}

/** A test that is meant to fail passes when it does. */
function failsOnPurpose(text: string, { start, end }: DeclaredTest): boolean {
  const before = text.slice(Math.max(0, start - 200), start);
  const head = `${before.slice(before.lastIndexOf("}") + 1)}${text.slice(start, Math.min(end, start + 300))}`;
  return /should_panic|\.(?:fails|failing|todo|skip)\b|xfail|expectedFailure/.test(head);
}

const WAY_OUT = /\b(?:return|goto|exit|_exit|System\.exit|skip|skipTest|Skip\w*)\b/;

/** Whether something between two places may end the test early on purpose; what the assertions themselves do is theirs. */
function wayOut(text: string, language: TestLanguage, assertions: readonly Assertion[]) {
  const without = maskText(text, maskOf(language)).split("");
  for (const { start, end } of assertions) without.fill(" ", start, end);
  const rest = without.join("");
  return (from: number, to: number): boolean => WAY_OUT.test(rest.slice(from, to));
}

const maskOf = (language: TestLanguage): Language => (isLines(language) ? "ruby" : language);
