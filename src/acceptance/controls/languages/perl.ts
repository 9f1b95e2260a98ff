// Expectations of Perl's Test::More.
import { pairBrackets, splitArguments, trimmed } from "../text/brackets.js";
import type { Edit } from "../text/edit.js";
import { alterLiteral } from "../text/literal.js";
import { ALTERED } from "../text/marks.js";
import { maskText } from "../text/mask.js";
import type { Assertion, TestText } from "./test-text.js";

const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ["is", "isnt"],
  ["isnt", "is"],
  ["like", "unlike"],
  ["unlike", "like"],
]);

export function readPerl(text: string): TestText {
  const mask = maskText(text, "ruby");
  const pairs = pairBrackets(mask);
  const assertions: Assertion[] = [];
  for (const { index, 0: call, 1: name } of mask.matchAll(/(?<![\w$@%:>-])(is|isnt|like|unlike|ok|is_deeply)\s*\(/g)) {
    const open = index + call.length - 1;
    const close = pairs[open]!;
    if (close < 0) continue;
    const named = { start: index, end: index + name!.length };
    const edits = editsOf(name!, named, text, splitArguments(mask, pairs, open));
    const line = text.slice(0, index).split("\n").length;
    assertions.push({ start: index, end: close + 1, line, edits, test: null, sure: isOutermost(mask, index) });
  }
  return { tests: [], assertions };
}

type Place = Pick<Edit, "start" | "end">;

function editsOf(name: string, named: Place, text: string, args: readonly Place[]): Edit[] {
  const [first, second] = args.map((place) => trimmed(text, place));
  if (name === "ok") {
    return first === undefined ? [] : [{ ...first, text: `!(${text.slice(first.start, first.end)})` }];
  }
  if (second === undefined) return [];
  const literal = name === "isnt" ? null : alterLiteral(text.slice(second.start, second.end), "ruby");
  if (literal !== null) return [{ ...second, text: literal }];
  if (name === "is_deeply") return [{ ...second, text: `"${ALTERED}"` }];
  return [{ ...named, text: OPPOSITES.get(name)! }];
}

/** Not inside a block, which may not be run. */
const isOutermost = (mask: string, at: number): boolean =>
  (mask.slice(0, at).match(/\{/g) ?? []).length === (mask.slice(0, at).match(/\}/g) ?? []).length;
