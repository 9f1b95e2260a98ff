// Expectations in languages that nobody reads here in full (Ruby, PHP, Lua): a literal that an assertion is handed first, or
// that something is compared with in a line that complains.
import { alterLiteral } from "../text/literal.js";
import { maskText } from "../text/mask.js";
import type { Assertion, TestText } from "./test-text.js";

const LITERAL = "(-?[0-9][0-9_.]*|\"\\u0001*\"|'\\u0001*'|\\btrue\\b|\\bfalse\\b)";
const EXPECTED_FIRST = new RegExp(`\\bassert_?(?:[Ee]quals?|[Ss]ame)\\s*\\(?\\s*${LITERAL}\\s*,`);
const MATCHER = new RegExp(`\\b(?:to\\s+eq|must_equal|toBe|toEqual)\\s*\\(?\\s*${LITERAL}`);
const COMPARED = new RegExp(`(?:[=!]==?|~=)\\s*${LITERAL}`);
const COMPLAINS = /\b(?:assert\w*|raise|abort|exit|fail\w*|die|throw|error|if|unless|expect)\b/;

/** A function that compares two of its parameters, in PHP, Lua and Ruby. */
const HELPER =
  /\b(?:function|def)\s+(\w+)\s*\(\s*(\$?\w+)\s*,\s*(\$?\w+)[^)]*\)[\s\S]{0,200}?(?:(\$?\w+)\s*(?:[=!]==?|~=)\s*(\$?\w+))/g;

/** Calls of such functions with a literal first. */
function helperCalls(mask: string): RegExp | null {
  const names = [...mask.matchAll(HELPER)].flatMap(([, name, ...parts]) => {
    const [one, other, left, right] = parts;
    return (left === one && right === other) || (left === other && right === one) ? [name!] : [];
  });
  return names.length === 0 ? null : new RegExp(`^\\s*(?:${names.join("|")})\\s*\\(\\s*${LITERAL}\\s*,`);
}

export function readLoose(text: string): TestText {
  const mask = maskText(text, "ruby");
  const calls = helperCalls(mask);
  const assertions: Assertion[] = [];
  let start = 0;
  mask.split("\n").forEach((line, index) => {
    const found =
      EXPECTED_FIRST.exec(line) ??
      MATCHER.exec(line) ??
      calls?.exec(line) ??
      (COMPLAINS.test(line) ? COMPARED.exec(line) : null);
    if (found !== null) {
      const at = start + found.index + found[0].lastIndexOf(found[1]!);
      const end = at + found[1]!.length;
      const altered = alterLiteral(text.slice(at, end), "ruby");
      const edits = altered === null ? [] : [{ start: at, end, text: altered }];
      assertions.push({ start, end: start + line.length, line: index + 1, edits, test: null, sure: true });
    }
    start += line.length + 1;
  });
  return { tests: [], assertions };
}
