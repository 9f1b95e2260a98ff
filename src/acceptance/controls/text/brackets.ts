// Where brackets close and arguments end, in a masked text.

const CLOSES: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** For each opening bracket the place of its partner, and the other way round; -1 elsewhere and where there is none. */
export function pairBrackets(mask: string): Int32Array {
  const pairs = new Int32Array(mask.length).fill(-1);
  const open: number[] = [];
  for (let at = 0; at < mask.length; at += 1) {
    const character = mask[at]!;
    if (character in CLOSES) open.push(at);
    else if (character === ")" || character === "]" || character === "}") {
      const from = open.at(-1);
      if (from === undefined || CLOSES[mask[from]!] !== character) continue;
      open.pop();
      pairs[from] = at;
      pairs[at] = from;
    }
  }
  return pairs;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What stands between a bracket and its partner, at each comma, without the blanks around. */
export function splitArguments(mask: string, pairs: Int32Array, open: number): Span[] {
  const close = pairs[open]!;
  if (close < 0) return [];
  return splitAt(mask, pairs, { start: open + 1, end: close }, ",").filter(({ start, end }) => start < end);
}

/** Pieces of a span between the places where a character stands outside of any bracket. */
export function splitAt(mask: string, pairs: Int32Array, span: Span, separator: string): Span[] {
  const pieces: Span[] = [];
  let start = span.start;
  for (let at = span.start; at < span.end; at += 1) {
    if (mask[at] === separator) {
      pieces.push(trimmed(mask, { start, end: at }));
      start = at + 1;
    } else if (pairs[at]! > at) at = pairs[at]!;
  }
  pieces.push(trimmed(mask, { start, end: span.end }));
  return pieces;
}

export function trimmed(text: string, { start, end }: Span): Span {
  while (start < end && isBlank(text[start]!)) start += 1;
  while (end > start && isBlank(text[end - 1]!)) end -= 1;
  return { start, end };
}

const isBlank = (character: string): boolean =>
  character === " " || character === "\n" || character === "\t" || character === "\r";
