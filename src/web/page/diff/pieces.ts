// A line of source in pieces: its colours, and what of it changed.
import { lineChanges } from "../../../trees/line-diff.js";

export interface Piece {
  readonly text: string;
  /** The highlighter's classes; empty for plain text. */
  readonly class: string;
  readonly isChanged: boolean;
}

export interface Coloured {
  readonly text: string;
  readonly class: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'", "&#39;": "'" },
};

/** The highlighter's answer, which is escaped text and spans, line by line. A span may go on over the end of a line. */
export function colouredLines(html: string): Coloured[][] {
  const lines: Coloured[][] = [[]];
  const open: string[] = [];
  for (const [token, name] of html.matchAll(/<span class="([^"]*)">|<\/span>|[^<]+/g)) {
    if (name !== undefined) open.push(name);
    else if (token === "</span>") open.pop();
    else {
      const text = token.replace(/&(?:amp|lt|gt|quot|#x27|#39);/g, (entity) => ENTITIES[entity]!);
      for (const [index, part] of text.split("\n").entries()) {
        if (index > 0) lines.push([]);
        if (part !== "") lines.at(-1)!.push({ text: part, class: open.at(-1) ?? "" });
      }
    }
  }
  return lines;
}

export type Range = readonly [start: number, end: number];

const LONGEST = 2_000;

/** What differs inside two lines, by words. Lines with little in common have no marks, which reads better than shreds. */
export function wordRanges(left: string, right: string): readonly [Range[], Range[]] {
  if (left.length > LONGEST || right.length > LONGEST) return [[], []];
  const [a, b] = [words(left), words(right)];
  const [inLeft, inRight]: [Range[], Range[]] = [[], []];
  for (const { beforeStart, beforeEnd, afterStart, afterEnd } of lineChanges(a, b)) {
    if (beforeEnd > beforeStart) inLeft.push([lengthOf(a, beforeStart), lengthOf(a, beforeEnd)]);
    if (afterEnd > afterStart) inRight.push([lengthOf(b, afterStart), lengthOf(b, afterEnd)]);
  }
  const changed = (ranges: readonly Range[]) => ranges.reduce((sum, [start, end]) => sum + end - start, 0);
  const kept = left.trim().length - changed(inLeft);
  return kept <= 0 || kept * 4 < left.trim().length ? [[], []] : [inLeft, inRight];
}

const words = (line: string) => line.match(/\w+|\s+|[^\w\s]/g) ?? [];
const lengthOf = (all: readonly string[], count: number) =>
  all.slice(0, count).reduce((sum, word) => sum + word.length, 0);

/** Colours and marks laid over one another. */
export function piecesOf(text: string, coloured: readonly Coloured[] | undefined, ranges: readonly Range[]): Piece[] {
  const parts = coloured ?? [{ text, class: "" }];
  const pieces: Piece[] = [];
  let at = 0;
  for (const part of parts) {
    const end = at + part.text.length;
    const cuts = ranges.flat().filter((cut) => cut > at && cut < end);
    for (const next of [...cuts, end]) {
      const isChanged = ranges.some(([from, to]) => from <= at && next <= to);
      if (next > at)
        pieces.push({
          text: part.text.slice(part.text.length - (end - at), part.text.length - (end - next)),
          class: part.class,
          isChanged,
        });
      at = next;
    }
  }
  return pieces;
}
