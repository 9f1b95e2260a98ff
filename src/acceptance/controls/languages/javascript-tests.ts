// The tests a JavaScript text declares: node:test, vitest, jest, mocha, playwright, tap.

import type { Source } from "./source.js";
import { ANY, type DeclaredTest } from "./test-text.js";

interface Block {
  readonly start: number;
  readonly open: number;
  readonly end: number;
  readonly name: string;
  readonly group: boolean;
  readonly skips: boolean;
  readonly only: boolean;
}

const CALL = /(?<![\w$.])(?:(?:t|s|ctx|context)\.)?(x?(?:test|it|describe|suite|specify))((?:\.\w+){0,4})\s*(?=[(`])/g;
const MODIFIERS = new Set(
  "only skip todo concurrent sequential failing fails each for runIf skipIf serial parallel describe".split(" "),
);

export function declaredTests(source: Source): DeclaredTest[] {
  const blocks = findBlocks(source);
  const only = blocks.some((block) => block.only);
  const tests: DeclaredTest[] = [];
  const open: Block[] = [];
  for (const block of blocks) {
    while (open.length > 0 && open.at(-1)!.end <= block.start) open.pop();
    const around = [...open];
    open.push(block);
    if (block.group) continue;
    const names = [...around, block].map(({ name }) => name);
    const exact = names.every((name) => !name.includes(ANY));
    const skips = block.skips || around.some((outer) => outer.skips);
    tests.push({
      start: block.start,
      end: block.end,
      names,
      skips,
      sure: exact && !only && always(source, block, around),
    });
  }
  return tests;
}

/** Nothing but groups and tests around it: no loop, no condition, no function that might not be called. */
function always(source: Source, block: Block, around: readonly Block[]): boolean {
  if (
    source
      .before(block.start)
      .replace(/\b(?:await|void|return)\b/g, "")
      .trim() !== ""
  )
    return false;
  const opens = new Set(around.map(({ open }) => open));
  for (let at = source.outer(block.start); at >= 0; at = source.outer(at)) {
    if (source.mask[at] === "{" && !opens.has(source.outer(at))) return false;
    if (source.mask[at] !== "{" && !opens.has(at)) return false;
  }
  return true;
}

function findBlocks(source: Source): Block[] {
  const { mask, pairs } = source;
  const blocks: Block[] = [];
  for (const found of source.find(CALL)) {
    const modifiers = found[2]!.split(".").slice(1);
    if (!modifiers.every((word) => MODIFIERS.has(word))) continue;
    const repeated = modifiers.some((word) => ["each", "for", "runIf", "skipIf"].includes(word));
    let open = found.index + found[0].length;
    if (repeated) open = secondCall(source, open);
    if (open < 0 || mask[open] !== "(" || pairs[open]! < 0) continue;
    const [first] = source.arguments(open);
    const end = pairs[open]! + 1;
    const name = first === undefined ? ANY : nameOf(source.slice(first));
    const group = /describe|suite/.test(found[1]!) || modifiers.includes("describe");
    const inside = mask.slice(open, end);
    blocks.push({
      start: found.index,
      open,
      end,
      name: repeated ? name.replace(/%[sdifjoOcp#$%]|\$[\w.#]+/g, ANY) : name,
      group,
      skips:
        /\b(?:skip|todo|skipIf|runIf)\b/.test(group ? found[0] + optionsOf(source, open) : found[0] + inside) ||
        /^x/.test(found[1]!),
      only: modifiers.includes("only"),
    });
  }
  return blocks;
}

/** A group's options: what stands between its name and its function. */
function optionsOf(source: Source, open: number): string {
  const spans = source.arguments(open).slice(1, 2);
  return spans
    .map((span) => source.mask.slice(span.start, span.end))
    .filter((text) => text.startsWith("{"))
    .join("");
}

/** `test.each(table)(name, …)`: the brackets that hold the name. */
function secondCall({ mask, pairs }: Source, open: number): number {
  let at = open;
  if (mask[open] === "`") {
    at = mask.indexOf("`", open + 1);
    if (at < 0) return -1;
  } else at = pairs[open]!;
  if (at < 0) return -1;
  at += 1;
  while (at < mask.length && /\s/.test(mask[at]!)) at += 1;
  return mask[at] === "(" ? at : -1;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", 0: "\0" };

/** A name as it is reported; ANY where it is computed. */
function nameOf(source: string): string {
  const quote = source[0]!;
  if (!"\"'`".includes(quote) || !source.endsWith(quote) || source.length < 2) return ANY;
  let name = "";
  for (let at = 1; at < source.length - 1; at += 1) {
    const character = source[at]!;
    if (character === "\\") {
      at += 1;
      const next = source[at]!;
      if (next === "u" || next === "x") return ANY;
      name += ESCAPES[next] ?? next;
    } else if (quote === "`" && character === "$" && source[at + 1] === "{") {
      const end = source.indexOf("}", at);
      if (end < 0) return ANY;
      name += ANY;
      at = end;
    } else if (character === quote) return ANY;
    else name += character;
  }
  return name;
}
