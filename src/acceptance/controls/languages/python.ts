// Expectations in Python: assert, unittest's methods, pytest.raises, and conditions that end the script.
import { pairBrackets, type Span, splitArguments, splitAt, trimmed } from "../text/brackets.js";
import type { Edit } from "../text/edit.js";
import { ALTERED } from "../text/marks.js";
import { maskText } from "../text/mask.js";
import { alterInside, alterValue, type ValueOptions } from "../text/value.js";
import { innermost } from "./javascript.js";
import { PythonText } from "./python-lines.js";
import { type Assertion, type DeclaredTest, preferStrong, type TestText } from "./test-text.js";

const SKIPS = /\bskip\w*|\bxfail\b|\bimportorskip\b|\bSkipTest\b/;
const COMPLAINS = /\braise\b|\breturn[ \t]+(?:[1-9]|False)|\b(?:sys\.)?exit\s*\(|\bos\._exit\b|\bfail\w*/i;

export function readPython(text: string, literalsOnly = false): TestText {
  const source = new PythonText(text);
  const tests = declaredTests(source);
  const options: ValueOptions = { literalsOnly };
  const assertions: Assertion[] = [];
  source.statements.forEach((statement, index) => {
    for (const { edits, weak } of alterStatement(source, index, options)) {
      const test = innermost(tests, statement.start);
      const sure = !conditional(source, index, test?.start ?? 0);
      const helper = test === null ? helperAround(source, index) : undefined;
      const more = { ...(helper === undefined ? {} : { helper }), ...(weak ? { weak } : {}) };
      assertions.push({ ...pick(statement), line: statement.line, edits, test, sure, ...more });
    }
  });
  return { tests, assertions: preferStrong(assertions) };
}

const pick = ({ start, end }: Span): Span => ({ start, end });

function declaredTests(source: PythonText): DeclaredTest[] {
  const moduleSkips = source.statements.some(
    ({ indent, start, end }) =>
      indent === 0 && /^(?:pytestmark\b|pytest\.skip|pytest\.importorskip)/.test(source.mask.slice(start, end)),
  );
  return source.statements.flatMap((statement, index) => {
    const name = /^(?:async\s+)?def\s+(test\w*)\s*\(/.exec(source.masked(statement))?.[1];
    if (name === undefined) return [];
    const around = source.around(index).map((at) => source.statements[at]!);
    const classes = around.map((outer) => /^class\s+(\w+)/.exec(source.masked(outer))?.[1]);
    if (classes.some((each) => each === undefined)) return [];
    const decorators =
      decoratorsOf(source, index) +
      around.map((outer) => decoratorsOf(source, source.statements.indexOf(outer))).join("");
    if (/\bfixture\b/.test(decorators)) return [];
    const end = source.blockEnd(index);
    const collected = around.every((outer) => /^class\s+(?:Test|\w+[^:]*TestCase\b)/.test(source.masked(outer)));
    const skips = moduleSkips || SKIPS.test(decorators) || SKIPS.test(source.mask.slice(statement.start, end));
    return [{ start: statement.start, end, names: [...(classes as string[]).reverse(), name], skips, sure: collected }];
  });
}

/** A function that is called by name; a fixture is not. */
function helperAround(source: PythonText, index: number): string | undefined {
  for (const at of source.around(index)) {
    const name = /^(?:async\s+)?def\s+(\w+)/.exec(source.masked(source.statements[at]!))?.[1];
    if (name !== undefined) return /\bfixture\b/.test(decoratorsOf(source, at)) ? undefined : name;
  }
  return undefined;
}

function decoratorsOf(source: PythonText, index: number): string {
  let text = "";
  for (let at = index - 1; at >= 0; at -= 1) {
    const statement = source.statements[at]!;
    if (statement.indent !== source.statements[index]!.indent || source.mask[statement.start] !== "@") break;
    text += source.masked(statement);
  }
  return text;
}

function conditional(source: PythonText, index: number, from: number): boolean {
  return source
    .around(index)
    .map((at) => source.statements[at]!)
    .some(
      (outer) =>
        outer.start >= from &&
        /^(?:if|elif|else|except|match|case)\b/.test(source.masked(outer)) &&
        !isMain(source.slice(outer)),
    );
}

const isMain = (text: string): boolean => /^if\s+__name__\s*==/.test(text);

interface Altered {
  readonly edits: readonly Edit[];
  readonly weak?: boolean;
}

function alterStatement(source: PythonText, index: number, options: ValueOptions): Altered[] {
  const statement = source.statements[index]!;
  const text = source.masked(statement);
  if (/^assert\b/.test(text)) {
    const whole = { start: statement.start + 6, end: statement.end };
    const [condition] = splitAt(source.mask, source.pairs, whole, ",");
    return condition === undefined
      ? []
      : [{ edits: [{ ...condition, text: alterTruth(source.slice(condition), true, options) }] }];
  }
  const call = /(?:\bself\.(assert\w+)|\bpytest\.(raises)|\.(assert_called(?:_once)?_with))\s*\(/.exec(text);
  if (call !== null) {
    const open = statement.start + call.index + call[0].length - 1;
    return [{ edits: alterCall(source, (call[1] ?? call[2] ?? call[3])!, open, options) }];
  }
  if (/^(?:if|elif)\b/.test(text) && !isMain(source.slice(statement))) return alterGuard(source, index, options);
  return [];
}

function alterGuard(source: PythonText, index: number, options: ValueOptions): Altered[] {
  const { start, end } = source.statements[index]!;
  const from = start + (source.mask.startsWith("elif", start) ? 4 : 2);
  const [condition, rest] = splitAt(source.mask, source.pairs, { start: from, end }, ":");
  const body = `${rest === undefined ? "" : source.masked(rest)} ${source.mask.slice(end, source.blockEnd(index))}`;
  if (condition === undefined || !COMPLAINS.test(body)) return [];
  return [{ edits: [{ ...condition, text: alterTruth(source.slice(condition), false, options) }], weak: true }];
}

const OPERATORS = /(?:==|!=|>=|<=|<|>|\bnot\s+in\b|\bis\s+not\b|\bin\b|\bis\b)/g;

/** A condition with another answer. */
export function alterTruth(source: string, holds: boolean, options: ValueOptions): string {
  const mask = flat(maskText(source, "python"));
  const negated = `not (${source})`;
  const found = [...mask.matchAll(OPERATORS)];
  if (found.length !== 1 || /\band\b|\bor\b|\bif\b|\blambda\b|^not\b/.test(mask))
    return question(source, mask, holds) ?? negated;
  const [{ 0: operator, index }] = found as [RegExpExecArray];
  const right = trimmed(source, { start: index + operator.length, end: source.length });
  const left = trimmed(source, { start: 0, end: index });
  const replace = (span: Span, text: string | null) =>
    text === null ? null : source.slice(0, span.start) + text + source.slice(span.end);
  const literals = { ...options, literalsOnly: true };
  if ((operator === "==") === holds && (operator === "==" || operator === "!=")) {
    const [a, b] = [source.slice(left.start, left.end), source.slice(right.start, right.end)];
    const other =
      replace(right, alterValue(b, "python", literals)) ??
      (/[({[]/.test(a) ? null : replace(left, alterValue(a, "python", literals))) ??
      (holds ? replace(right, alterValue(b, "python", options)) : null);
    return other ?? negated;
  }
  if (operator === "in" && holds && /^[a-zA-Z]{0,2}["']/.test(source)) {
    return replace(left, alterValue(source.slice(left.start, left.end), "python", literals)) ?? negated;
  }
  if (
    holds &&
    /^[<>]/.test(operator) &&
    /^-?[0-9.]+$/.test(source.slice(right.start, right.end)) &&
    !options.literalsOnly
  ) {
    return replace(right, `${operator.startsWith(">") ? "" : "-"}float("inf")`) ?? negated;
  }
  return negated;
}

/** What stands in brackets is no part of the comparison. */
function flat(mask: string): string {
  const pairs = pairBrackets(mask);
  const out: string[] = [];
  for (let at = 0; at < mask.length; at += 1) {
    const close = pairs[at]!;
    if (close > at) {
      out.push(mask[at]!, " ".repeat(close - at - 1), mask[close]!);
      at = close;
    } else out.push(mask[at]!);
  }
  return out.join("");
}

function question(source: string, mask: string, holds: boolean): string | null {
  if (!holds || !/^[^\s]*\.(?:startswith|endswith)\(\s*\)$/.test(mask)) return null;
  const open = mask.lastIndexOf("(");
  const altered = alterInside(source.slice(open), "python");
  return altered === null ? null : source.slice(0, open) + altered;
}

const OPPOSITE: Readonly<Record<string, string>> = {
  assertNotEqual: "assertEqual",
  assertNotIn: "assertIn",
  assertIsNone: "assertIsNotNone",
  assertIsNotNone: "assertIsNone",
  assertIsInstance: "assertNotIsInstance",
  assertNotIsInstance: "assertIsInstance",
  assertIs: "assertIsNot",
  assertIsNot: "assertIs",
  assertGreater: "assertLessEqual",
  assertGreaterEqual: "assertLess",
  assertLess: "assertGreaterEqual",
  assertLessEqual: "assertGreater",
  assertNotRegex: "assertRegex",
  assertNotAlmostEqual: "assertAlmostEqual",
};

function alterCall(source: PythonText, name: string, open: number, options: ValueOptions): Edit[] {
  const args = splitArguments(source.mask, source.pairs, open);
  const rename = (text: string): Edit => ({ start: open - name.length, end: open, text });
  const opposite = OPPOSITE[name];
  if (opposite !== undefined) return [rename(opposite)];
  const [first, second] = args;
  if (first === undefined) return [];
  if (name === "raises" || name === "assertRaises") return alterRaises(source, name, args, open);
  if (name === "assertRaisesRegex") return second === undefined ? [] : altered(source, [second], options);
  if (name === "assertTrue" || name === "assertFalse") {
    return [{ ...first, text: alterTruth(source.slice(first), name === "assertTrue", options) }];
  }
  if (name === "assertIn") return altered(source, [first], options);
  if (name.startsWith("assert_called")) return altered(source, args, { ...options, literalsOnly: true });
  if (!/Equal|Regex|Count/.test(name) || second === undefined) return [];
  const literals = { ...options, literalsOnly: true };
  const either = altered(source, [second], literals);
  if (either.length > 0) return either;
  const reversed = /[({[]/.test(source.slice(first)) ? [] : altered(source, [first], literals);
  return reversed.length > 0 ? reversed : altered(source, [second], options);
}

function altered(source: PythonText, spans: readonly Span[], options: ValueOptions): Edit[] {
  for (const span of spans) {
    const text = alterValue(source.slice(span), "python", options);
    if (text !== null) return [{ ...span, text }];
  }
  return [];
}

/** By the message: another class would let the error through, and that is no assertion. */
function alterRaises(source: PythonText, name: string, args: readonly Span[], open: number): Edit[] {
  const [first] = args;
  if (name === "assertRaises") {
    return [
      { start: open - name.length, end: open, text: "assertRaisesRegex" },
      { start: first!.end, end: first!.end, text: `, "${ALTERED}"` },
    ];
  }
  const match = args.find((span) => /^match\s*=/.test(source.masked(span)));
  if (match === undefined)
    return args.length > 1 ? [] : [{ start: first!.end, end: first!.end, text: `, match="${ALTERED}"` }];
  const value = trimmed(source.text, { start: source.text.indexOf("=", match.start) + 1, end: match.end });
  return [{ ...value, text: `"${ALTERED}"` }];
}
