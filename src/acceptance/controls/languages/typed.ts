// Expectations in Go, Rust, Java, Kotlin and C: calls that are known by name, and conditions that complain. Types allow
// no other value in place of a computed one, so there the question is turned round instead.
import type { Span } from "../text/brackets.js";
import type { Edit } from "../text/edit.js";
import { alterLiteral } from "../text/literal.js";
import type { Language } from "../text/mask.js";
import { alterValue } from "../text/value.js";
import { alterCondition } from "./condition.js";
import { findGuards } from "./guards.js";
import { innermost } from "./javascript.js";
import { Source } from "./source.js";
import { ANY, type Assertion, type DeclaredTest, preferStrong, type TestText } from "./test-text.js";

interface Rule {
  /** Matches up to the opening bracket; its first group is the name. */
  readonly call: RegExp;
  /** Which argument is compared with which; the expected one first. */
  readonly equal?: readonly [number, number];
  /** Which argument has to hold, and whether it has to. */
  readonly truth?: readonly [number, boolean];
  /** The name of the call that asks the opposite with as many arguments. */
  readonly opposite?: (name: string, count: number) => string | null;
  /** It is asked of what an assertion returned; of anything else, a method of that name is no expectation. */
  readonly chained?: true;
  /** Calls that return nothing: none can follow them. */
  readonly last?: RegExp;
}

interface Dialect {
  readonly language: Language;
  readonly rules: readonly Rule[];
  readonly complains: RegExp | null;
  readonly tests: (source: Source) => DeclaredTest[];
}

const swap =
  (pairs: Readonly<Record<string, string>>) =>
  (name: string): string | null => {
    const table = new Map(Object.entries(pairs).flatMap(([a, b]) => [[a, b] as const, [b, a] as const]));
    return table.get(name) ?? null;
  };

const GO: Dialect = {
  language: "go",
  complains: /\b\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\bpanic\s*\(|\bos\.Exit\s*\(/,
  tests: (source) =>
    functions(
      source,
      /\bfunc\s+(Test\w*)\s*\(\s*\w+\s+\*testing\.T\s*\)\s*(?=\{)/g,
      (name) => [name],
      /\.Skip(?:f|Now)?\s*\(/,
    ),
  rules: [
    {
      call: /\b(?:assert|require)\.((?:Not)?(?:Equal|EqualValues|Exactly|JSONEq|Contains|Len|ElementsMatch|EqualError|ErrorContains))\s*\(/g,
      equal: [1, 2],
      opposite: swap({ Equal: "NotEqual", Contains: "NotContains", EqualValues: "NotEqualValues" }),
    },
    { call: /\b(?:assert|require)\.(True)\s*\(/g, truth: [1, true] },
    { call: /\b(?:assert|require)\.(False)\s*\(/g, truth: [1, false] },
    {
      call: /\b(?:assert|require)\.((?:No)?Error|(?:Not)?(?:Nil|Empty|Zero|Panics))\s*\(/g,
      opposite: swap({ NoError: "Error", Nil: "NotNil", Empty: "NotEmpty", Zero: "NotZero", Panics: "NotPanics" }),
    },
  ],
};

const RUST: Dialect = {
  language: "rust",
  complains: /\bpanic!\s*[({[]/,
  tests: rustTests,
  rules: [
    {
      call: /\b((?:debug_)?assert_(?:eq|ne))!\s*[({[]/g,
      equal: [1, 0],
      opposite: swap({ assert_eq: "assert_ne", debug_assert_eq: "debug_assert_ne" }),
    },
    { call: /\b((?:debug_)?assert)!\s*[({[]/g, truth: [0, true] },
    { call: /#\[(should_panic)\s*\(/g, equal: [0, 0] },
  ],
};

const otherWay = swap({ isEqualTo: "isNotEqualTo", contains: "doesNotContain" });

const JAVA: Dialect = {
  language: "java",
  complains: /\bthrow\s+new\b|\bfail\s*\(|\bSystem\.exit\b/,
  tests: javaTests,
  rules: [
    {
      call: /(?<![\w])(assert(?:Not)?(?:Equals|Same)|assertArrayEquals|assertIterableEquals|assertLinesMatch)\s*\(/g,
      equal: [0, 1],
      opposite: swap({ assertEquals: "assertNotEquals", assertSame: "assertNotSame" }),
    },
    { call: /(?<![\w])(assertTrue)\s*\(/g, truth: [0, true] },
    { call: /(?<![\w])(assertFalse)\s*\(/g, truth: [0, false] },
    { call: /(?<![\w])(assert(?:Not)?Null)\s*\(/g, opposite: swap({ assertNull: "assertNotNull" }) },
    {
      call: /\.(is(?:Not)?EqualTo|contains|doesNotContain|hasSize|startsWith|endsWith|containsExactly|hasMessage\w*)\s*\(/g,
      equal: [0, 0],
      opposite: (name, count) => (name === "isEqualTo" && count > 1 ? "isNotCloseTo" : otherWay(name)),
      chained: true,
    },
    {
      call: /\.(is(?:True|False|Null|NotNull|Empty|NotEmpty))\s*\(/g,
      opposite: swap({ isTrue: "isFalse", isNull: "isNotNull", isEmpty: "isNotEmpty" }),
      chained: true,
      last: /^is(?:Null|Empty)$/,
    },
    { call: /(?<![\w])assert(?=\s*\()()\s*\(/g, truth: [0, true] },
  ],
};

const C: Dialect = {
  language: "c",
  complains: /\breturn\s+(?:-?[1-9]\d*|EXIT_FAILURE|false)\b|\bexit\s*\(|\babort\s*\(|\bfail\w*|\berrors?\b/i,
  tests: () => [],
  rules: [
    {
      call: /\b((?:EXPECT|ASSERT|CHECK|REQUIRE)_(?:EQ|NE|STREQ|STRNE|FLOAT_EQ|DOUBLE_EQ)|TEST_ASSERT_EQUAL\w*|ck_assert_\w+_(?:eq|ne)|assert_(?:int|string|ptr|memory)_(?:not_)?equal)\s*\(/g,
      equal: [1, 0],
      opposite: (name) =>
        /_EQ$/.test(name) ? name.replace(/_EQ$/, "_NE") : /_eq$/.test(name) ? name.replace(/_eq$/, "_ne") : flipC(name),
    },
    {
      call: /(?<![\w])(assert|(?:EXPECT|ASSERT|CHECK|REQUIRE)_TRUE|CHECK|REQUIRE|TEST_ASSERT|TEST_ASSERT_TRUE|assert_true|ck_assert)\s*\(/g,
      truth: [0, true],
    },
    // Catch's matchers know `!`.
    { call: /(?<![\w])((?:CHECK|REQUIRE)_THAT)\s*\(/g, truth: [1, true] },
    {
      call: /(?<![\w])((?:EXPECT|ASSERT|CHECK|REQUIRE)_FALSE|TEST_ASSERT_FALSE|assert_false)\s*\(/g,
      truth: [0, false],
    },
  ],
};

const flipC = (name: string): string | null =>
  name.endsWith("_NE")
    ? name.replace(/_NE$/, "_EQ")
    : name.includes("_not_equal")
      ? name.replace("_not_equal", "_equal")
      : name.endsWith("_equal")
        ? name.replace("_equal", "_not_equal")
        : null;

const DIALECTS = { go: GO, rust: RUST, java: JAVA, c: C } as const;

export function readTyped(text: string, language: keyof typeof DIALECTS): TestText {
  const { rules, complains, tests: declared } = DIALECTS[language];
  const source = new Source(text, language);
  const tests = declared(source);
  const found = rules.flatMap((rule) => byRule(source, rule));
  const guards = complains === null ? [] : findGuards(source, complains);
  const place = (start: number, end: number, edits: readonly Edit[], weak: boolean): Assertion => {
    const test = innermost(tests, start);
    const sure = test?.sure !== false && !source.conditional(start, test?.start ?? 0);
    const helper = test === null ? source.function(start) : undefined;
    const more = { ...(helper === undefined ? {} : { helper }), ...(weak ? { weak } : {}) };
    return { start, end, edits, line: source.line(start), test, sure, ...more };
  };
  const assertions = [
    ...found.map(({ start, end, edits }) => place(start, end, edits, false)),
    ...guards.map(({ start, end, edits, condition }) =>
      place(
        start,
        end,
        edits,
        found.length > 0 || /\bnil\b|\bNULL\b/.test(source.mask.slice(condition.start, condition.end)),
      ),
    ),
  ];
  return { tests, assertions: preferStrong(assertions).sort((a, b) => a.start - b.start) };
}

function byRule(source: Source, rule: Rule): (Span & { edits: Edit[] })[] {
  const found: (Span & { edits: Edit[] })[] = [];
  for (const match of source.find(rule.call)) {
    const open = match.index + match[0].length - 1;
    const before = source.before(match.index);
    if (source.pairs[open]! < 0 || /^\s*#\s*define\b|\b(?:void|static|int|fn|func|macro_rules!)\s*$/.test(before))
      continue;
    if (rule.chained === true && !followsAssertion(source, match.index)) continue;
    const name = match[1]!;
    const at = match.index + match[0].indexOf(name);
    const edits = alterBy(source, rule, { name, span: { start: at, end: at + name.length }, open });
    found.push({ start: match.index, end: source.pairs[open]! + 1, edits });
  }
  return found;
}

/** `assertThat(list).as("…").contains(1)`, but neither `list.contains(1)` nor `assertThat(list.contains(1))`. */
function followsAssertion(source: Source, at: number): boolean {
  let end = at;
  for (let links = 0; links < 20; links += 1) {
    while (/\s/.test(source.mask[end - 1] ?? "")) end -= 1;
    const open = source.mask[end - 1] === ")" ? source.pairs[end - 1]! : -1;
    if (open < 0) return false;
    const [head] = /\.?[ \t]*\w*[ \t]*$/.exec(source.mask.slice(Math.max(0, open - 200), open)) ?? [""];
    if (/^(?:assert\w*|then(?:ThrownBy|Code|Object)?)$/.test(head.replace(/^\./, "").trim())) return true;
    if (!head.startsWith(".")) return false;
    end = open - head.length;
  }
  return false;
}

function alterBy(source: Source, rule: Rule, call: { name: string; span: Span; open: number }): Edit[] {
  const args = source.arguments(call.open);
  const { language } = source;
  if (rule.truth !== undefined) {
    const span = args[rule.truth[0]];
    if (span === undefined) return [];
    const text = alterCondition(source.slice(span), language, rule.truth[1]);
    return [{ ...span, text }, ...(language === "rust" ? namedFailure(source, args[1]) : [])];
  }
  const negative = /[nN]ot|_ne$|_NE$|STRNE|^No/.test(call.name);
  if (rule.equal !== undefined && !negative) {
    for (const index of rule.equal) {
      const span = args[index];
      const text = span === undefined ? null : alterExpected(source.slice(span), language);
      if (text !== null) return [{ ...span!, text }];
    }
  }
  const opposite = rule.opposite?.(call.name, args.length) ?? null;
  if (opposite === null || (rule.last?.test(opposite) === true && isFollowed(source, call.open))) return [];
  return [{ ...call.span, text: opposite }];
}

const isFollowed = ({ mask, pairs }: Source, open: number): boolean => /^\s*\./.test(mask.slice(pairs[open]! + 1));

/** `assert!(held, "why")` prints its message alone, which would look like any other panic. */
function namedFailure(source: Source, message: Span | undefined): Edit[] {
  const [quote] = (message === undefined ? null : /^r?#*"/.exec(source.slice(message))) ?? [];
  if (message === undefined || quote === undefined) return [];
  const at = message.start + quote.length;
  return [{ start: at, end: at, text: "assertion failed: " }];
}

/** `expected = "…"` in an attribute, too. */
function alterExpected(source: string, language: Language): string | null {
  const named = /^expected\s*=\s*/.exec(source)?.[0] ?? "";
  const rest = source.slice(named.length);
  const text = alterLiteral(rest, language) ?? alterValue(rest, language);
  return text === null ? null : named + text;
}

function functions(
  source: Source,
  head: RegExp,
  names: (name: string, at: number) => string[],
  skips: RegExp,
  isSure: (open: number) => boolean = () => true,
): DeclaredTest[] {
  const tests: DeclaredTest[] = [];
  for (const match of source.find(head)) {
    const open = source.mask.indexOf("{", match.index + match[0].length - 1);
    const end = open < 0 ? -1 : source.pairs[open]!;
    if (end < 0) continue;
    const own = source.mask.slice(match.index, end);
    const start = match.index;
    tests.push({ start, end, names: names(match[1]!, start), skips: skips.test(own), sure: isSure(open) });
  }
  return tests;
}

function rustTests(source: Source): DeclaredTest[] {
  const head =
    /(?:#\[ignore\b[^\]]*\]\s*)?#\[(?:\w+::)*test\b[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:pub\s+)?(?:async\s+)?fn\s+(\w+)/g;
  const modules = (at: number): string[] => {
    const names: string[] = [];
    for (let open = source.outer(at); open >= 0; open = source.outer(open)) {
      const name = /^(?:pub\s+)?mod\s+(\w+)/.exec(source.header(open).replace(/^(?:#\[[^\]]*\]\s*)+/, ""))?.[1];
      if (name !== undefined) names.unshift(name);
    }
    return names;
  };
  const isSure = (at: number): boolean => {
    for (let open = at; open >= 0; open = source.outer(open))
      if (source.mask[open] === "{" && LEFT_OUT.test(source.header(open))) return false;
    return true;
  };
  return functions(source, head, (name, at) => [[...modules(at), name].join("::")], /#\[ignore\b/, isSure);
}

/** By a feature or a platform, which are the base's. Names of a build script's own would be the work's. */
const LEFT_OUT =
  /#\[cfg\s*\((?!\s*test\s*\))(?:[\s(),="\u0001]|\b(?:feature|unix|windows|not|any|all|test|debug_assertions|target_\w+)\b)*\)\s*\]/;

function javaTests(source: Source): DeclaredTest[] {
  const head = /@(?:Test|ParameterizedTest|RepeatedTest)\b(?:[^;{}]|\{[^;{}]*\}){0,400}?\b(?:void|fun)\s+(\w+)\s*\(/g;
  const type = /\bclass\s+(\w+)/.exec(source.mask)?.[1] ?? ANY;
  return functions(source, head, (name) => [type, name], /@(?:Disabled|Ignore)\b|\bassum\w+\s*\(/);
}
