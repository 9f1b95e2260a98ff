// What a test's text says: which tests it declares, where its expectations are, how each could be altered.
import type { Span } from "../text/brackets.js";
import type { Edit } from "../text/edit.js";

/** Stands for any text in a test's name. */
export const ANY = "\0";

export interface DeclaredTest extends Span {
  /** From the outside in; a name that is computed holds ANY. */
  readonly names: readonly string[];
  /** It is there in every run, under this very name. */
  readonly sure: boolean;
  /** Its author lets it be skipped. */
  readonly skips: boolean;
}

/** One expectation. */
export interface Assertion extends Span {
  readonly line: number;
  /** What makes it fail on right work; empty when nothing is known that would. */
  readonly edits: readonly Edit[];
  readonly test: DeclaredTest | null;
  /** It runs whenever its test does. */
  readonly sure: boolean;
  /** The function it stands in, when that is no test: whoever calls it fails with it. */
  readonly helper?: string;
  /** Guards, and setup that may not fail: altered only where there is nothing better. */
  readonly weak?: boolean;
}

export interface TestText {
  readonly tests: readonly DeclaredTest[];
  readonly assertions: readonly Assertion[];
}

export const NO_TESTS: TestText = { tests: [], assertions: [] };

/** Where a text matches a name with gaps in it: each piece in order, the first at the start, the last at the end. */
export function nameMatches(pattern: string, name: string): boolean {
  const pieces = pattern.split(ANY);
  if (pieces.length === 1) return pattern === name;
  const [first, last] = [pieces[0]!, pieces.at(-1)!];
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= name.length - last.length;
}

/** Of each test its strong assertions, and the weak ones only where it has no other. */
export function preferStrong(assertions: readonly Assertion[]): Assertion[] {
  const strong = new Set(
    assertions.filter(({ weak, edits, sure }) => weak !== true && sure && edits.length > 0).map(({ test }) => test),
  );
  return assertions.filter(({ weak, test }) => weak !== true || !strong.has(test));
}
