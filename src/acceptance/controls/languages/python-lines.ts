// Python's statements: where each begins and ends, how deep it stands, and what is around it.
import { pairBrackets, type Span } from "../text/brackets.js";
import { maskText } from "../text/mask.js";

export interface Statement extends Span {
  readonly indent: number;
  /** Index of the statement whose block it stands in; -1 at the top. */
  readonly outer: number;
  readonly line: number;
}

export class PythonText {
  readonly text: string;
  readonly mask: string;
  readonly pairs: Int32Array;
  readonly statements: readonly Statement[];

  constructor(text: string) {
    this.text = text;
    this.mask = maskText(text, "python");
    this.pairs = pairBrackets(this.mask);
    this.statements = readStatements(this.mask, this.pairs);
  }

  slice({ start, end }: Span): string {
    return this.text.slice(start, end);
  }

  masked({ start, end }: Span): string {
    return this.mask.slice(start, end);
  }

  /** The statements around one, the nearest first. */
  around(index: number): number[] {
    const found: number[] = [];
    for (let at = this.statements[index]!.outer; at >= 0; at = this.statements[at]!.outer) found.push(at);
    return found;
  }

  /** Where the block of a statement ends. */
  blockEnd(index: number): number {
    const { indent, end } = this.statements[index]!;
    let last = end;
    for (let at = index + 1; at < this.statements.length; at += 1) {
      if (this.statements[at]!.indent <= indent) break;
      last = this.statements[at]!.end;
    }
    return last;
  }
}

function readStatements(mask: string, pairs: Int32Array): Statement[] {
  const statements: Statement[] = [];
  const open: number[] = [];
  let line = 1;
  for (let at = 0; at < mask.length; ) {
    const end = statementEnd(mask, pairs, at);
    const start = at + /^[ \t\r]*/.exec(mask.slice(at, Math.min(end, at + 1000)))![0].length;
    if (start < end && mask.slice(start, end).trim() !== "") {
      const indent = mask[at - 1] === ";" ? statements.at(-1)!.indent : start - at;
      for (const piece of withBody(mask, pairs, { start, end, indent })) {
        while (open.length > 0 && statements[open.at(-1)!]!.indent >= piece.indent) open.pop();
        statements.push({ ...piece, outer: open.at(-1) ?? -1, line });
        open.push(statements.length - 1);
      }
    }
    for (let each = at; each <= end && each < mask.length; each += 1) if (mask[each] === "\n") line += 1;
    at = end + 1;
  }
  return statements;
}

const HEADS = /^(?:(?:async\s+)?(?:def|for|with)|class|while|try|else|finally|except)\b/;

/** `def test(): assert f() == 1` is a head and, one step deeper, its body. */
function withBody(
  mask: string,
  pairs: Int32Array,
  whole: Omit<Statement, "outer" | "line">,
): readonly Omit<Statement, "outer" | "line">[] {
  const { start, end, indent } = whole;
  if (!HEADS.test(mask.slice(start, Math.min(end, start + 100)))) return [whole];
  for (let at = start; at < end; at += 1) {
    if (pairs[at]! > at) at = pairs[at]!;
    else if (mask[at] === ":" && mask[at + 1] !== "=") {
      const body = at + 1 + /^\s*/.exec(mask.slice(at + 1, end))![0].length;
      if (body >= end || mask[body] === "#") return [whole];
      return [
        { start, end: at + 1, indent },
        { start: body, end, indent: indent + 1 },
      ];
    }
  }
  return [whole];
}

/** The line break that ends a statement: not one in brackets or strings, nor after a backslash. */
function statementEnd(mask: string, pairs: Int32Array, from: number): number {
  let inString = "";
  for (let at = from; at < mask.length; at += 1) {
    const three = mask.slice(at, at + 3);
    if (inString !== "") {
      if (three === inString) {
        inString = "";
        at += 2;
      }
    } else if (three === '"""' || three === "'''") {
      inString = three;
      at += 2;
    } else if (pairs[at]! > at) at = pairs[at]!;
    else if (mask[at] === ";" && mask.slice(from, at).trim() !== "") return at;
    else if (mask[at] === "\n" && mask[at - 1] !== "\\") return at;
  }
  return mask.length;
}
