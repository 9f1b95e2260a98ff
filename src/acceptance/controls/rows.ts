// Expectations that reach their assertion by a name: an argument of a helper that compares, a row of a table that a loop goes
// through. The assertion stands once, and each call and each row is an expectation of its own.
import type { TestLanguage } from "./assertions.js";
import type { Assertion, TestText } from "./languages/test-text.js";
import { pairBrackets, type Span, splitArguments, trimmed } from "./text/brackets.js";
import { alterLiteral } from "./text/literal.js";
import { maskText } from "./text/mask.js";

/** An expectation without the place it is asked at being looked at. */
export type Row = Pick<Assertion, "start" | "end" | "line" | "edits">;

type RowLanguage = Exclude<TestLanguage, "shell" | "perl" | "doctest" | "loose">;

interface Text {
  readonly text: string;
  readonly mask: string;
  readonly pairs: Int32Array;
  readonly language: RowLanguage;
}

/** More are not looked for: one of them is altered in a run. */
const MOST_ROWS = 500;

export function expectedRows(source: string, language: TestLanguage, read: TestText): Row[] {
  if (
    language === "shell" ||
    language === "perl" ||
    language === "doctest" ||
    language === "loose" ||
    source.length > 200_000
  )
    return [];
  const mask = maskText(source, language);
  const text: Text = { text: source, mask, pairs: pairBrackets(mask), language };
  return [...helperCalls(text, read), ...loopRows(text, read)].slice(0, MOST_ROWS);
}

function rowAt({ text, language }: Text, at: Span, value: Span | undefined): Row[] {
  if (value === undefined) return [];
  const other = alterLiteral(text.slice(value.start, value.end), language);
  if (other === null) return [];
  const line = text.slice(0, value.start).split("\n").length;
  return [{ ...at, line, edits: [{ ...value, text: other }] }];
}

const escaped = (name: string): string => name.replaceAll("$", "\\$");

/** `same(add(2, 3), 5)`, where `same` compares its two parameters. */
function helperCalls(source: Text, { assertions }: TestText): Row[] {
  const { mask, pairs } = source;
  const helpers = new Map<string, readonly number[]>();
  for (const { helper, start, end } of assertions) {
    if (helper === undefined || helpers.has(helper)) continue;
    const places = comparedPlaces(source, helper, mask.slice(start, end));
    if (places !== null) helpers.set(helper, places);
  }
  return [...helpers].flatMap(([name, places]) =>
    [...mask.matchAll(new RegExp(`(?<=^[ \\t]*|[;{}][ \\t]*)(?:self\\.)?${escaped(name)}[ \\t]*\\(`, "gm"))].flatMap(
      ({ index, 0: call }) => {
        const open = index + call.length - 1;
        const end = pairs[open]! + 1;
        if (end <= 0 || /^\s*(?:\{|:|=>)/.test(mask.slice(end, end + 20))) return [];
        const args = splitArguments(mask, pairs, open);
        const literals = places
          .map((place) => args[place])
          .filter(
            (span) =>
              span !== undefined && alterLiteral(source.text.slice(span.start, span.end), source.language) !== null,
          );
        return literals.length === 1 ? rowAt(source, { start: index, end }, literals[0]) : [];
      },
    ),
  );
}

const PAIR = /(?<![\w$.])([A-Za-z_$][\w$]*)\s*(?:[!=]==?|,|\.equals\s*\()\s*([A-Za-z_$][\w$]*)(?![\w$.([])/g;

/** Which of a helper's parameters are compared with each other; null when nobody can tell. */
function comparedPlaces({ mask, pairs }: Text, helper: string, assertion: string): readonly number[] | null {
  const heads = [...mask.matchAll(new RegExp(`(?<![\\w$.])${escaped(helper)}\\s*(?:=\\s*(?:async\\s*)?)?\\(`, "g"))];
  for (const { index, 0: head } of heads) {
    const open = index + head.length - 1;
    if (pairs[open]! < 0 || !/^\s*(?:\{|:|=>|->)/.test(mask.slice(pairs[open]! + 1, pairs[open]! + 20))) continue;
    const names = splitArguments(mask, pairs, open).map(
      ({ start, end }) =>
        /([A-Za-z_$][\w$]*)\s*(?::.*|=.*)?$/s.exec(mask.slice(start, end).split(/[:=]/)[0]!)?.[1] ?? "",
    );
    const own = names[0] === "self" ? names.slice(1) : names;
    for (const [, one, other] of assertion.matchAll(PAIR)) {
      const places = [own.indexOf(one!), own.indexOf(other!)];
      if (places.every((place) => place >= 0) && places[0] !== places[1]) return places;
    }
  }
  return null;
}

/** How a loop takes its rows apart: by place, by key, or not at all. */
const PYTHON_LOOP = /^[ \t]*(?:async[ \t]+)?for[ \t]+(\(?[\w, ]+\)?)[ \t]+in[ \t]+([A-Za-z_]\w*(?=[ \t]*:)|(?=[[(]))/gm;
const JAVASCRIPT_LOOP =
  /\bfor\s*(?:await\s*)?\(\s*(?:const|let|var)\s+(\[[\w$,\s]+\]|\{[\w$,\s]+\}|[\w$]+)\s+of\s+([A-Za-z_$][\w$]*(?=\s*\))|(?=\[))/g;

function loopRows(source: Text, read: TestText): Row[] {
  const pattern =
    source.language === "python" ? PYTHON_LOOP : source.language === "javascript" ? JAVASCRIPT_LOOP : null;
  if (pattern === null) return [];
  const loops = [...source.mask.matchAll(pattern)];
  return loops.flatMap((found, index) => {
    const [head, variables, name] = found as unknown as [string, string, string];
    const start = found.index + (/^[ \t]*/.exec(head)?.[0].length ?? 0);
    const after = found.index + head.length;
    const open = name === "" ? after : tableNamed(source, name);
    if (open < 0 || source.pairs[open]! < 0) return [];
    const until = loops[index + 1]?.index ?? source.mask.length;
    const column = expectedColumn(
      source,
      variables,
      read.assertions.filter((each) => each.sure && each.start > after && each.start < until),
    );
    if (column === null) return [];
    const end = name === "" ? source.pairs[open]! + 1 : after;
    return splitArguments(source.mask, source.pairs, open).flatMap((row) =>
      rowAt(source, { start, end }, cell(source, row, column)),
    );
  });
}

function tableNamed({ mask }: Text, name: string): number {
  const found = [
    ...mask.matchAll(
      new RegExp(`^[ \\t]*(?:export\\s+)?(?:const|let|var)?\\s*${escaped(name)}\\s*(?::[^=\\n]*)?=\\s*(?=[[(])`, "gm"),
    ),
  ];
  return found.length === 1 ? found[0]!.index + found[0]![0].length : -1;
}

type Column = number | string;

/** The part of a row that an assertion in the loop compares something with. */
function expectedColumn(source: Text, variables: string, assertions: readonly Assertion[]): Column | null {
  const names = variables.replace(/[[\](){}\s]/g, "").split(",");
  const isWhole = /^[\w$]+$/.test(variables.trim());
  const keys = variables.trim().startsWith("{");
  for (const assertion of assertions) {
    for (const [index, name] of names.entries()) {
      const found = comparedSide(source, assertion, name, isWhole);
      if (found !== null) return isWhole ? found : keys ? name : index;
    }
  }
  return null;
}

/** Whether a name, or a member of it, is all of one side; the member's name, or nothing. */
function comparedSide({ mask, pairs }: Text, { start, end }: Span, name: string, isWhole: boolean): string | null {
  if (name === "" || (!isWhole && timesNamed(mask.slice(start, end), name) > 1)) return null;
  const side = `(?<![\\w$.])${escaped(name)}${isWhole ? "\\.([A-Za-z_$][\\w$]*)" : "()"}(?![\\w$.([])`;
  const asked = flattened(mask, pairs, { start, end }, 1);
  const equal = new RegExp(`[!=]==?\\s*${side}\\s*(?=[,);:]|$)|^(?:assert|if)?[\\s(]*${side}\\s*[!=]==?`);
  const argument = new RegExp(`[,(]\\s*${side}\\s*(?=[,)])`);
  const isCall = /^(?:await\s+)?[\w.$]+\s*\(/.test(asked) && !/^(?:if|assert)\b(?!\.)/.test(asked);
  const found =
    equal.exec(flattened(mask, pairs, { start, end }, isCall ? 1 : 0)) ?? (isCall ? argument.exec(asked) : null);
  return found === null ? null : (found.slice(1).find((member) => member !== undefined) ?? "");
}

const timesNamed = (words: string, name: string): number =>
  words.match(new RegExp(`(?<![\\w$.])${escaped(name)}(?![\\w$])`, "g"))?.length ?? 0;

/** A text without what stands deeper in brackets than `depth`. */
function flattened(mask: string, pairs: Int32Array, { start, end }: Span, depth: number): string {
  let [out, deep] = ["", 0];
  for (let at = start; at < end; at += 1) {
    const partner = pairs[at]!;
    if (partner > at && deep >= depth && partner < end) {
      out += `${mask[at]}${mask[partner]}`;
      at = partner;
      continue;
    }
    if (partner > at) deep += 1;
    else if (partner >= start) deep -= 1;
    out += mask[at];
  }
  return out;
}

function cell({ text, mask, pairs }: Text, row: Span, column: Column): Span | undefined {
  if (!"[({".includes(mask[row.start] ?? " ")) return undefined;
  const parts = splitArguments(mask, pairs, row.start);
  if (typeof column === "number") return mask[row.start] === "{" ? undefined : parts[column];
  const part = parts.find(({ start, end }) =>
    new RegExp(`^["']?${escaped(column)}["']?\\s*:`).test(text.slice(start, end)),
  );
  return part === undefined ? undefined : trimmed(text, { start: text.indexOf(":", part.start) + 1, end: part.end });
}
