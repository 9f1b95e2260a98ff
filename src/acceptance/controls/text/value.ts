// An expected value, written out or computed, turned into another one.
import { pairBrackets, splitAt, trimmed } from "./brackets.js";
import { alterLiteral } from "./literal.js";
import { ALTERED } from "./marks.js";
import { IN_STRING, type Language, maskText } from "./mask.js";

export interface ValueOptions {
  /** Only change what is written there; add no code and no quotes. */
  readonly literalsOnly?: boolean;
  /** The text is type-checked where it runs. */
  readonly typed?: boolean;
}

/** null when nothing is known that would make it another value. */
export function alterValue(source: string, language: Language, options: ValueOptions = {}): string | null {
  if (source === "" || source.startsWith("...")) return null;
  const literal = alterLiteral(source, language);
  if (literal !== null) return options.literalsOnly === true && literal.includes(`"${ALTERED}"`) ? null : literal;
  const loose = language === "javascript" || language === "python";
  if (loose) {
    const container = alterContainer(source, language, options);
    if (container !== null) return container;
  }
  const inner = looksBuilt(source) ? alterInside(source, language) : null;
  if (inner !== null || !loose || options.literalsOnly === true) return inner;
  return language === "javascript" ? wrapJavaScript(source, options.typed === true) : wrapPython(source);
}

/** The first literal anywhere in an expression, altered. */
export function alterInside(source: string, language: Language): string | null {
  const mask = maskText(source, language);
  const found = /(["'`])\u0001*\1|(?<![\w.])[0-9][\w.]*|\b(?:true|false|True|False)\b/.exec(mask);
  if (found === null) return null;
  const start = found.index;
  const end = start + found[0].length;
  const altered = alterLiteral(source.slice(start, end), language);
  return altered === null ? null : source.slice(0, start) + altered + source.slice(end);
}

/** `List.of(1, 2)`, `vec![1]`, `Point{1, 2}`, `"a".to_string()`: made of what stands in it, not by the code under test. */
function looksBuilt(source: string): boolean {
  const start = source.replace(/^[&*]+(?:mut )?/, "");
  if (ASKED.test(start)) return false;
  return /^(?:new |vec!|\[|["']|(?:[\w.]+::)*[A-Z]\w*(?:::\w+|\.(?:of|valueOf|asList))?[({[]|(?:std::)|map\[|pytest\.approx|Decimal|expect\.)/.test(
    start,
  );
}

/** `Shop::new().price(&[1])`, `new Shop().price(1)`: what is made there is asked something, and the literal may not matter. */
const ASKED = /^(?:new [\w.<>]+|(?:[\w.]+::)*[A-Z]\w*(?:::\w+)?)\([^()]*\)\.\w+(?:::<[^()]*>)?\((?!\))/;

function alterContainer(source: string, language: Language, options: ValueOptions): string | null {
  const open = source[0]!;
  if (!"[{(".includes(open)) return null;
  const mask = maskText(source, language);
  const pairs = pairBrackets(mask);
  if (pairs[0] !== source.length - 1) return null;
  const parts = splitAt(mask, pairs, { start: 1, end: source.length - 1 }, ",");
  const first = parts[0]!;
  const single = parts.length === 1;
  if (open === "(") {
    if (!single) return withFirst(source, first, alterValue(source.slice(first.start, first.end), language, options));
    const inner = alterValue(source.slice(first.start, first.end), language, options);
    return inner === null ? null : `(${inner})`;
  }
  const empty = single && first.start === first.end;
  const colon = open === "{" && !empty ? splitAt(mask, pairs, first, ":") : [];
  const pairLike = open === "{" && (language === "javascript" || empty || colon.length > 1);
  const value = colon.length > 1 ? trimmed(source, { start: colon[1]!.start, end: first.end }) : first;
  const plain = open === "[" || colon.length > 1 ? scalar(source.slice(value.start, value.end), language) : null;
  if (plain !== null) return withFirst(source, value, plain);
  if (options.literalsOnly === true) return null;
  return `${open}"${ALTERED}"${pairLike ? ": 1" : ""}${empty ? "" : ", "}${source.slice(1)}`;
}

/** Numbers and texts only: a flipped boolean or a missing null may mean nothing in a partial match. */
const scalar = (source: string, language: Language): string | null =>
  /^(?:[-0-9"'`]|true$|false$|True$|False$)/.test(source) ? alterLiteral(source, language) : null;

function withFirst(source: string, span: { start: number; end: number }, text: string | null): string | null {
  return text === null ? null : source.slice(0, span.start) + text + source.slice(span.end);
}

const OTHER = [
  `typeof v === "number" ? (Number.isFinite(v) && v + 1 !== v ? v + 1 : 0)`,
  `typeof v === "bigint" ? v + 1n`,
  `typeof v === "string" ? v + "${ALTERED}"`,
  `typeof v === "boolean" ? !v`,
  `typeof v === "function" ? class Altered extends Error {}`,
  `Array.isArray(v) ? ["${ALTERED}", ...v]`,
  `v instanceof RegExp ? /(?!)/`,
  `v === null || v === undefined || typeof v !== "object" ? "${ALTERED}"`,
  // Of a class: a copy without it may be one that cannot even be printed.
  `![Object.prototype, null].includes(Object.getPrototypeOf(v)) ? ["${ALTERED}"]`,
  `{ ...v, "${ALTERED}": 1 }`,
].join(" : ");

const wrapJavaScript = (source: string, typed: boolean): string =>
  `((v${typed ? ": any): any" : ")"} => (${OTHER}))(${source})`;

/** In place of an object of the work's own: it has whichever part or method a comparison asks for, and equals none. */
const STRANGER = `type("${ALTERED}", (), {"__getattr__": lambda s, n: object.__getattribute__(s, n) if n.startswith("__") else s, "__call__": lambda s, *a, **k: s, "__dict__": property(lambda s: type("${ALTERED}", (dict,), {"__call__": lambda s: s})({"${ALTERED}": 1}))})()`;

const wrapPython = (source: string): string | null =>
  /^\*|\byield\b|:=/.test(source) || source.includes(IN_STRING)
    ? null
    : `(lambda v: (not v) if isinstance(v, bool) else (v * 2 + 1 if v == v + 1 else v + 1) if isinstance(v, (int, float)) else v + "${ALTERED}" if isinstance(v, str) else v + b"${ALTERED}" if isinstance(v, bytes) else ["${ALTERED}", *v] if isinstance(v, list) else ("${ALTERED}", *v) if isinstance(v, tuple) else {**v, "${ALTERED}": 1} if isinstance(v, dict) else {*v, "${ALTERED}"} if isinstance(v, (set, frozenset)) else "${ALTERED}" if v is None else ${STRANGER})(${source})`;
