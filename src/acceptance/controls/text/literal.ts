// A written value turned into another of the same kind, so that right work no longer meets it.
import { ALTERED } from "./marks.js";
import type { Language } from "./mask.js";

const NUMBER = /^(-?)(0[xX][0-9a-fA-F_]+|[0-9][0-9_]*)(\.[0-9_]+)?([eE][+-]?[0-9]+)?([a-zA-Z][a-zA-Z0-9]*)?$/;
const STRING = /^([a-zA-Z]{0,3})("""|'''|"|'|`)/;

const WORDS: Readonly<Record<string, string>> = { true: "false", false: "true", True: "False", False: "True" };
const NOTHING: ReadonlySet<string> = new Set(["null", "None", "undefined", "nil"]);
/** Types where nothing may be compared with a text. */
const LOOSE: ReadonlySet<Language> = new Set(["javascript", "python", "ruby", "php"]);

/** null when the source is no literal. */
export function alterLiteral(source: string, language: Language): string | null {
  if (source.length > 100_000) return null;
  if (Object.hasOwn(WORDS, source)) return WORDS[source]!;
  if (NOTHING.has(source)) return LOOSE.has(language) ? `"${ALTERED}"` : null;
  const sign = source.startsWith("-") ? source.replace(/^-\s+/, "-") : source;
  return alterNumber(sign) ?? alterString(source, language) ?? alterRegex(source, language);
}

function alterNumber(source: string): string | null {
  const parts = NUMBER.exec(source);
  if (parts === null) return null;
  const [, sign, whole, fraction = "", exponent = "", suffix = ""] = parts;
  const value = BigInt(whole!.replaceAll("_", ""));
  // Away from the end of the type it is written for: 255, 65535…
  const other = value < 100n ? value + 1n : value - 1n;
  const text = /^0x/i.test(whole!) ? `0x${other.toString(16)}` : other.toString();
  return `${sign}${text}${fraction}${exponent}${suffix}`;
}

function alterString(source: string, language: Language): string | null {
  const start = STRING.exec(source);
  if (start === null) return null;
  const [head, , quote] = start as unknown as [string, string, string];
  if (source.length < head.length + quote.length || !source.endsWith(quote)) return null;
  if (quote === "`" && language !== "javascript" && language !== "go") return null;
  const inner = source.slice(head.length, source.length - quote.length);
  if (closesInside(inner, quote)) return null;
  if (quote === "'" && ["c", "go", "java", "rust"].includes(language)) {
    return `${head}${inner === "x" ? "y" : "x"}${quote}`;
  }
  return `${head}${inner}${ALTERED}${quote}`;
}

/** `"a" + "b"` begins and ends with a quote and is no literal. */
function closesInside(inner: string, quote: string): boolean {
  for (let at = 0; at < inner.length; at += 1) {
    if (inner[at] === "\\") at += 1;
    else if (inner.startsWith(quote, at)) return true;
  }
  return inner.length > 0 && /(?:^|[^\\])(?:\\\\)*\\$/.test(inner.slice(-64));
}

function alterRegex(source: string, language: Language): string | null {
  if (language !== "javascript" || !source.startsWith("/") || source.length < 3) return null;
  const end = source.lastIndexOf("/");
  if (end === 0 || !/^[a-z]*$/.test(source.slice(end + 1))) return null;
  return `/(?!)(?:${source.slice(1, end)})/${source.slice(end + 1)}`;
}
