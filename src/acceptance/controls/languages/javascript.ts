// Expectations in JavaScript and TypeScript: node:assert, expect of vitest, jest, playwright and chai, t.is of others, and
// conditions that throw.
import type { Span } from "../text/brackets.js";
import type { Edit } from "../text/edit.js";
import { ALTERED } from "../text/marks.js";
import { alterInside, alterValue, type ValueOptions } from "../text/value.js";
import { alterCondition } from "./condition.js";
import { findGuards } from "./guards.js";
import { declaredTests } from "./javascript-tests.js";
import { Source } from "./source.js";
import { type Assertion, type DeclaredTest, preferStrong, type TestText } from "./test-text.js";

const EQUAL = new Set(
  (
    "equal strictEqual deepEqual deepStrictEqual partialDeepStrictEqual looseEqual is same strictSame equals eq deep " +
    "isEqual like sameMembers include lengthOf match"
  ).split(" "),
);
const TRUE = new Set("ok true truthy isTrue isOk isTruthy false falsy isFalse notOk".split(" "));
const OPPOSITE: Readonly<Record<string, string>> = {
  notEqual: "equal",
  notStrictEqual: "strictEqual",
  notDeepEqual: "deepEqual",
  notDeepStrictEqual: "deepStrictEqual",
  doesNotMatch: "match",
  doesNotThrow: "throws",
  doesNotReject: "rejects",
};
/** Matchers whose first argument is the expectation. */
const MATCHERS =
  /^(?:toBe|toEqual|toStrictEqual|toMatchObject|toContain|toContainEqual|toHaveLength|toMatch|toHaveProperty|toBeCloseTo|toHaveBeenCalledTimes|toHaveBeenCalledWith|toHaveBeenLastCalledWith|toHaveReturnedWith|toBeInstanceOf|toBeTypeOf|toHaveText|toContainText|toHaveTextContent|toHaveTitle|toHaveURL|toHaveValue|toHaveCount|toHaveAttribute|toHaveClass|equal|equals|eql|eq|include|contain|contains|lengthOf|property|a|an|instanceof|string|match|members)$/;
const MORE: Readonly<Record<string, string>> = {
  toBeGreaterThan: "Infinity",
  toBeGreaterThanOrEqual: "Infinity",
  above: "Infinity",
  least: "Infinity",
  toBeLessThan: "-Infinity",
  toBeLessThanOrEqual: "-Infinity",
  below: "-Infinity",
  most: "-Infinity",
};
const COMPLAINS = /\bthrow\b|\bprocess\.exit\b|\bexitCode\b|\bfail\w*|\berror\w*\+\+|\breject\(|\bassert\b/i;

export function readJavaScript(path: string, text: string, literalsOnly = false): TestText {
  const source = new Source(text, "javascript");
  const tests = declaredTests(source);
  const options: ValueOptions = { literalsOnly, typed: /\.[cm]?tsx?$/.test(path) };
  const found = [...expectations(source, options), ...assertCalls(source, options)];
  const inside = (at: number) => found.some(({ start, end }) => start <= at && at < end);
  const guards = findGuards(source, COMPLAINS).filter(
    ({ start, end }) => !found.some((each) => start < each.start && each.end <= end),
  );
  const assertions = [
    ...found.map((each) => place(source, tests, each)),
    ...guards
      .filter(({ start }) => !inside(start))
      .map((each) => ({ ...place(source, tests, each), weak: found.length > 0 })),
  ];
  return { tests, assertions: preferStrong(assertions).sort((a, b) => a.start - b.start) };
}

interface Found extends Span {
  readonly edits: readonly Edit[];
}

function place(source: Source, tests: readonly DeclaredTest[], { start, end, edits }: Found): Assertion {
  const test = innermost(tests, start);
  const helper = test === null ? source.function(start) : undefined;
  const sure = !source.conditional(start, test?.start ?? 0);
  return { start, end, edits, line: source.line(start), test, sure, ...(helper === undefined ? {} : { helper }) };
}

export function innermost(tests: readonly DeclaredTest[], at: number): DeclaredTest | null {
  let found: DeclaredTest | null = null;
  for (const test of tests) if (test.start <= at && at < test.end) found = test;
  return found;
}

function assertCalls(source: Source, options: ValueOptions): Found[] {
  const { mask, pairs } = source;
  const found: Found[] = [];
  const named = importedNames(source);
  const call = /(?<![\w$.])((?:assert|t|tap|test|chai\.assert)(?:\.strict|\.assert)?(?:\.(\w+))?|\w+)\s*\(/g;
  for (const match of source.find(call)) {
    const bare = match[2] === undefined;
    const callee = match[1]!;
    const name = bare ? (named.get(callee) ?? (/^assert(?:\.strict)?$/.test(callee) ? "ok" : null)) : match[2]!;
    const open = match.index + match[0].length - 1;
    if (name === null || pairs[open]! < 0 || /\bfunction\s*$/.test(source.before(match.index))) continue;
    const nameSpan = bare
      ? null
      : { start: match.index + callee.length - name.length, end: match.index + callee.length };
    const edits = alterCall(source, name, { open, nameSpan }, options);
    if (edits !== null) found.push({ start: match.index, end: pairs[open]! + 1, edits });
  }
  return found.filter(({ start }) => mask[start] !== undefined);
}

/** `import { equal as same } from "node:assert"`: what each name means. */
function importedNames(source: Source): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const from = /\b(?:import|const|let|var)\s*\{([^{}]*)\}\s*(?:=\s*require\s*\(\s*|from\s*)(["'])(\u0001*)\2/g;
  for (const match of source.find(from)) {
    const end = match.index + match[0].length;
    const module = source.text.slice(end - 1 - match[3]!.length, end - 1);
    if (!/^(?:node:)?assert(?:\/strict)?$|^uvu\/assert$/.test(module)) continue;
    for (const part of match[1]!.split(",")) {
      const [name, alias] = part.trim().split(/\s+as\s+|\s*:\s*/);
      if (name) names.set(alias ?? name, name === "strict" ? "ok" : name);
    }
  }
  return names;
}

interface Callee {
  readonly open: number;
  /** null when it is called by an imported name, which cannot be exchanged. */
  readonly nameSpan: Span | null;
}

/** null when the call is no assertion. */
function alterCall(source: Source, name: string, { open, nameSpan }: Callee, options: ValueOptions): Edit[] | null {
  const args = source.arguments(open);
  if (EQUAL.has(name)) return args.length < 2 ? [] : alterEither(source, args[1]!, args[0]!, options);
  if (TRUE.has(name)) {
    if (args.length === 0) return [];
    const holds = !/^(?:false|falsy|isFalse|notOk)$/.test(name);
    return [{ ...args[0]!, text: alterCondition(source.slice(args[0]!), "javascript", holds) }];
  }
  if (name === "throws" || name === "rejects") return alterThrows(source, args, open, options);
  if (!Object.hasOwn(OPPOSITE, name)) return null;
  return nameSpan === null ? [] : [{ ...nameSpan, text: OPPOSITE[name]! }];
}

/** The expected side; the other one when that is what is written out. */
function alterEither(source: Source, expected: Span, actual: Span, options: ValueOptions): Edit[] {
  const literals = { ...options, literalsOnly: true };
  for (const [span, how] of [
    [expected, literals],
    [actual, literals],
    [expected, options],
  ] as const) {
    if (span === actual && /[({[]/.test(source.slice(actual))) continue;
    const text = alterValue(source.slice(span), "javascript", how);
    if (text !== null) return [{ ...span, text }];
  }
  return [];
}

function alterThrows(source: Source, args: readonly Span[], open: number, options: ValueOptions): Edit[] {
  const [action, wanted] = args;
  if (action === undefined) return [];
  const given = wanted === undefined ? "" : source.slice(wanted);
  if (wanted === undefined || /^["'`]/.test(given)) {
    const at = action.end;
    return [{ start: at, end: at, text: ", /(?!)/" }];
  }
  const inner = given.startsWith("{") ? alterInside(given, "javascript") : null;
  const text = inner ?? alterValue(given, "javascript", options);
  return open < 0 || text === null ? [] : [{ ...wanted, text }];
}

function expectations(source: Source, options: ValueOptions): Found[] {
  const found: Found[] = [];
  for (const { index, 0: head } of source.find(/(?<![\w$.])expect(?:\.soft|\.poll)?\s*\(/g)) {
    const close = source.pairs[index + head.length - 1]!;
    if (close < 0) continue;
    const chain = readChain(source, close + 1);
    if (chain === null) continue;
    found.push({ start: index, end: chain.end, edits: alterChain(source, chain, options) });
  }
  return found;
}

interface Chain {
  readonly words: readonly { readonly name: string; readonly span: Span }[];
  /** The bracket of the call at its end; null when it ends with a word: `.to.be.true`. */
  readonly open: number | null;
  readonly end: number;
}

function readChain({ mask, pairs }: Source, from: number): Chain | null {
  const words: { name: string; span: Span }[] = [];
  let at = from;
  for (let steps = 0; steps < 12; steps += 1) {
    const word = /^\s*\.\s*(\w+)/.exec(mask.slice(at, at + 200));
    if (word === null) break;
    const end = at + word[0].length;
    words.push({ name: word[1]!, span: { start: end - word[1]!.length, end } });
    at = end;
    if (mask[at] === "(" && pairs[at]! > at) return { words, open: at, end: pairs[at]! + 1 };
  }
  return words.length === 0 ? null : { words, open: null, end: at };
}

function alterChain(source: Source, { words, open }: Chain, options: ValueOptions): Edit[] {
  const not = words.find(({ name }) => name === "not");
  if (not !== undefined) {
    const dot = source.mask.lastIndexOf(".", not.span.start);
    return [{ start: dot, end: not.span.end, text: "" }];
  }
  const last = words.at(-1)!;
  if (/[sS]napshot/.test(last.name)) return [];
  const args = open === null ? [] : source.arguments(open);
  if (/^(?:toThrow|toThrowError|throw|throws)$/.test(last.name))
    return open === null ? [] : alterThrown(source, args[0], open, options);
  if (Object.hasOwn(MORE, last.name) && args[0] !== undefined) return [{ ...args[0], text: MORE[last.name]! }];
  if (MATCHERS.test(last.name) && args.length > 0) {
    for (const span of args) {
      const text = alterValue(source.slice(span), "javascript", options);
      if (text !== null) return [{ ...span, text }];
    }
  }
  const dot = source.mask.lastIndexOf(".", last.span.start);
  return [{ start: dot, end: dot, text: ".not" }];
}

function alterThrown(source: Source, wanted: Span | undefined, open: number, options: ValueOptions): Edit[] {
  if (wanted === undefined) return [{ start: open + 1, end: open + 1, text: `"${ALTERED}"` }];
  const given = source.slice(wanted);
  const text = given.startsWith("new ") ? alterInside(given, "javascript") : alterValue(given, "javascript", options);
  return text === null ? [] : [{ ...wanted, text }];
}
