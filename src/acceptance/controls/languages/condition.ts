// Conditions in languages that write them as C does: what makes a true one false, or a false one true.
import { pairBrackets, trimmed } from "../text/brackets.js";
import { alterLiteral } from "../text/literal.js";
import { type Language, maskText } from "../text/mask.js";

const ASKS =
  /(?:\.(?:includes|startsWith|endsWith|has|equals|contains|contentEquals|containsKey|starts_with|ends_with|startswith|endswith)|\b(?:strings\.(?:Contains|HasPrefix|HasSuffix)))\($/;

/** The source of a condition with another answer. */
export function alterCondition(source: string, language: Language, holds: boolean): string {
  return alterComparison(source, language, holds) ?? alterQuestion(source, language, holds) ?? `!(${source})`;
}

/** `a == 5` as `a == 6`: an object that equals everything gives itself away then. */
function alterComparison(source: string, language: Language, holds: boolean): string | null {
  const mask = maskText(source, language);
  const found = comparison(mask, pairBrackets(mask));
  if (found === null) return null;
  const equal = found.operator.startsWith("=");
  if (!"=!".includes(found.operator[0]!) || equal !== holds) return null;
  for (const span of [
    trimmed(mask, { start: found.at + found.operator.length, end: source.length }),
    trimmed(mask, { start: 0, end: found.at }),
  ]) {
    const altered = alterPlain(source.slice(span.start, span.end), language);
    if (altered !== null) return source.slice(0, span.start) + altered + source.slice(span.end);
  }
  return null;
}

/** Numbers and texts: another boolean or nothing may be just as true. */
function alterPlain(source: string, language: Language): string | null {
  return /^[-0-9"'`]/.test(source) ? alterLiteral(source, language) : null;
}

function alterQuestion(source: string, language: Language, holds: boolean): string | null {
  const mask = maskText(source, language);
  if (!holds || !mask.endsWith(")") || /^!|&&|\|\|/.test(mask)) return null;
  const open = pairBrackets(mask)[mask.length - 1]!;
  if (open < 0 || !ASKS.test(mask.slice(0, open + 1))) return null;
  const last = trimmed(mask, {
    start: mask.lastIndexOf(",") > open ? mask.lastIndexOf(",") + 1 : open + 1,
    end: mask.length - 1,
  });
  const altered = /^["'`]/.test(source.slice(last.start))
    ? alterLiteral(source.slice(last.start, last.end), language)
    : null;
  return altered === null ? null : source.slice(0, last.start) + altered + source.slice(last.end);
}

interface Comparison {
  readonly operator: string;
  readonly at: number;
}

/** The one comparison outside of brackets; null when there are several, or others join it. */
export function comparison(mask: string, pairs: Int32Array): Comparison | null {
  let found: Comparison | null = null;
  for (let at = 0; at < mask.length; at += 1) {
    if (pairs[at]! > at) {
      at = pairs[at]!;
      continue;
    }
    const two = mask.slice(at, at + 2);
    if (two === "&&" || two === "||" || two === "=>" || mask[at] === "?" || mask[at] === ",") return null;
    if (two === "<<" || two === ">>" || two === "->") {
      at += 1;
      continue;
    }
    const operator = ["===", "!==", "==", "!=", ">=", "<=", ">", "<"].find((each) => mask.startsWith(each, at));
    if (operator === undefined) continue;
    if (found !== null) return null;
    found = { operator, at };
    at += operator.length - 1;
  }
  return found;
}
