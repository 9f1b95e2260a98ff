// Tests written by hand: `if (got != want) fail()`. The condition is the expectation.
import { type Span, trimmed } from "../text/brackets.js";
import type { Edit } from "../text/edit.js";
import { alterCondition } from "./condition.js";
import type { Source } from "./source.js";

export interface Guard extends Span {
  readonly condition: Span;
  readonly edits: readonly Edit[];
}

/** `complains` says how a block ends the test. */
export function findGuards(source: Source, complains: RegExp): Guard[] {
  const guards: Guard[] = [];
  for (const { index } of source.find(/(?<![\w$.])if\b/g)) {
    const parts = guardParts(source, index + 2);
    if (parts === null || !complains.test(source.mask.slice(parts.body.start, parts.body.end))) continue;
    const text = alterCondition(source.slice(parts.condition), source.language, false);
    guards.push({
      start: index,
      end: parts.body.end,
      condition: parts.condition,
      edits: [{ ...parts.condition, text }],
    });
  }
  return guards;
}

function guardParts(source: Source, from: number): { condition: Span; body: Span } | null {
  const { mask, pairs } = source;
  const start = trimmed(mask, { start: from, end: mask.length }).start;
  if (mask[start] === "(" && pairs[start]! > start && source.language !== "go" && source.language !== "rust") {
    const close = pairs[start]!;
    return { condition: trimmed(mask, { start: start + 1, end: close }), body: bodyAfter(source, close + 1) };
  }
  if (source.language !== "go" && source.language !== "rust") return null;
  let open = start;
  while (open < mask.length && mask[open] !== "{" && mask[open] !== "\n")
    open = pairs[open]! > open ? pairs[open]! + 1 : open + 1;
  if (mask[open] !== "{" || pairs[open]! < 0) return null;
  const semicolon = mask.lastIndexOf(";", open);
  const condition = trimmed(mask, { start: semicolon > start ? semicolon + 1 : start, end: open });
  if (condition.start === condition.end || /^let\b/.test(mask.slice(condition.start))) return null;
  return { condition, body: { start: open, end: pairs[open]! } };
}

function bodyAfter({ mask, pairs }: Source, from: number): Span {
  const { start } = trimmed(mask, { start: from, end: mask.length });
  if (mask[start] === "{" && pairs[start]! > start) return { start, end: pairs[start]! };
  let end = start;
  while (end < mask.length && mask[end] !== ";" && mask[end] !== "\n")
    end = pairs[end]! > end ? pairs[end]! + 1 : end + 1;
  return { start, end };
}
