// Tests that stand in the file of the code, as Rust has them. The code is the work; its tests are the base's, as if they
// stood in a file of their own. Pure.
import { pairBrackets } from "../controls/text/brackets.js";
import { maskText } from "../controls/text/mask.js";

export const mayHoldTests = (path: string): boolean => path.endsWith(".rs");

/** The work's code with the base's tests; null when the work's text is that already. */
export function withTestsOf(base: string | null, work: string): string | null {
  const wanted = base === null ? [] : blocksOf(base).map(({ start, end }) => base.slice(start, end));
  const own = blocksOf(work);
  const found = own.map(({ start, end }) => work.slice(start, end));
  if (wanted.length === found.length && wanted.every((text, at) => text === found[at])) return null;
  let code = "";
  let from = 0;
  for (const { start, end } of own) {
    code += work.slice(from, start);
    from = end;
  }
  return [`${code}${work.slice(from)}`.trimEnd(), ...wanted].join("\n\n").concat("\n");
}

interface Block {
  readonly start: number;
  readonly end: number;
}

const ATTRIBUTES = String.raw`(?:#\[[^\]\n]*\]\s*)*`;
const TESTS = new RegExp(
  String.raw`#\[cfg\(\s*(?:test|all\(\s*test\b[^\]\n]*\))\s*\)\]\s*${ATTRIBUTES}(?:pub(?:\([^)]*\))?\s+)?(?:mod|fn)\s+\w+[^{;]*\{` +
    String.raw`|#\[cfg\(\s*test\s*\)\]\s*${ATTRIBUTES}(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*;` +
    String.raw`|#\[test\]\s*${ATTRIBUTES}(?:pub\s+)?(?:async\s+)?fn\s+\w+[^{;]*\{`,
  "g",
);

/** Modules for tests, those in files of their own too, and tests; outermost only. */
function blocksOf(text: string): Block[] {
  const mask = maskText(text, "rust");
  const pairs = pairBrackets(mask);
  const blocks: Block[] = [];
  for (const { index, 0: head } of mask.matchAll(TESTS)) {
    const last = index + head.length - 1;
    const close = mask[last] === ";" ? last : pairs[last]!;
    if (close < 0 || index < (blocks.at(-1)?.end ?? 0)) continue;
    blocks.push({ start: index, end: close + 1 });
  }
  return blocks;
}
