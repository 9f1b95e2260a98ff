// A text in a language with braces, ready to be asked what encloses what.
import { pairBrackets, type Span, splitArguments } from "../text/brackets.js";
import { type Language, maskText } from "../text/mask.js";

export class Source {
  readonly text: string;
  readonly language: Language;
  readonly mask: string;
  readonly pairs: Int32Array;
  /** For each place the bracket it stands in; -1 in none. */
  readonly #outer: Int32Array;
  readonly #lines: number[];

  constructor(text: string, language: Language) {
    this.text = text;
    this.language = language;
    this.mask = maskText(text, language);
    this.pairs = pairBrackets(this.mask);
    this.#outer = new Int32Array(text.length);
    this.#lines = [];
    const open: number[] = [];
    for (let at = 0; at < text.length; at += 1) {
      if (this.pairs[at]! >= 0 && this.pairs[at]! < at) open.pop();
      this.#outer[at] = open.at(-1) ?? -1;
      if (this.pairs[at]! > at) open.push(at);
      if (text[at] === "\n") this.#lines.push(at);
    }
  }

  slice({ start, end }: Span): string {
    return this.text.slice(start, end);
  }

  arguments(open: number): Span[] {
    return splitArguments(this.mask, this.pairs, open);
  }

  outer(at: number): number {
    return this.#outer[at] ?? -1;
  }

  line(at: number): number {
    let [low, high] = [0, this.#lines.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#lines[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }

  /** Each place where a pattern matches outside of strings and comments. */
  find(pattern: RegExp): IterableIterator<RegExpExecArray> {
    return this.mask.matchAll(pattern);
  }

  /** What stands before a place in its statement. */
  before(at: number): string {
    let start = at;
    while (start > 0 && at - start < 2000 && !";{}\n".includes(this.mask[start - 1]!)) start -= 1;
    return this.mask.slice(start, at);
  }

  /** Whether something decides if a place is reached once `from` is. */
  conditional(at: number, from: number): boolean {
    if (/\b(?:if|else|case|when)\b|&&|\|\||\?(?!\.)/.test(this.before(at))) return true;
    for (let open = this.outer(at); open >= from && open >= 0; open = this.outer(open)) {
      if (this.mask[open] === "{" && CONDITION.test(this.header(open))) return true;
    }
    return false;
  }

  /** The named function around a place. */
  function(at: number): string | undefined {
    const own = FUNCTION.exec(this.before(at));
    if (own !== null) return own[1] ?? own[2];
    for (let open = this.outer(at); open >= 0; open = this.outer(open)) {
      const found = this.mask[open] === "{" ? FUNCTION.exec(this.header(open)) : null;
      if (found !== null) return found[1] ?? found[2];
    }
    return undefined;
  }

  /** What stands before an opening brace and says what its block is for. */
  header(open: number): string {
    let start = open;
    for (let steps = 0; start > 0 && steps < 2000; steps += 1) {
      const before = start - 1;
      const character = this.mask[before]!;
      if (character === ")" && this.pairs[before]! >= 0) start = this.pairs[before]!;
      else if (";{}".includes(character)) break;
      else start = before;
    }
    return this.mask.slice(start, open).trimStart();
  }
}

const FUNCTION = /\b(?:function\s*\*?|func|fn|fun|void|bool|int)\s+(\w+)\s*[(<]|\b(?:const|let|var)\s+(\w+)\s*=/;
const CONDITION = /^(?:else\b|if\b|switch\b|match\b|catch\b|select\b|case\b)/;
