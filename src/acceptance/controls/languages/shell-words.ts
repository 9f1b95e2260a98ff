// A shell script as commands and words, without running it. What stands inside $(…) stays one word.
import type { Span } from "../text/brackets.js";

export interface Word extends Span {
  readonly text: string;
}

export interface Command {
  /** Without keywords and `!` in front. */
  readonly words: readonly Word[];
  readonly start: number;
  readonly end: number;
  readonly negated: boolean;
  /** What ended it: `;`, `&&`, `|`, `)`, a line break… */
  readonly operator: string;
  /** Bodies of its here-documents. */
  readonly documents: Span[];
  /** It is a pattern of `case`, not a command. */
  readonly pattern: boolean;
}

const KEYWORDS = new Set("if then else elif while until do time { !".split(" "));
const OPERATORS = [";;", "&&", "||", "|&", ";", "&", "|", "(", ")", "\n"];

export function shellCommands(text: string): Command[] {
  return new ShellReader(text).read();
}

class ShellReader {
  readonly #text: string;
  readonly #commands: Command[] = [];
  #words: Word[] = [];
  #at = 0;
  #waiting: { end: string; strips: boolean; documents: Span[] }[] = [];
  #documents: Span[] = [];
  #cases = 0;
  #pattern = false;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Command[] {
    while (this.#at < this.#text.length) this.#step();
    this.#finish("\n");
    return this.#commands;
  }

  #step(): void {
    const text = this.#text;
    const character = text[this.#at]!;
    if (character === " " || character === "\t" || character === "\r") this.#at += 1;
    else if (text.startsWith("\\\n", this.#at)) this.#at += 2;
    else if (character === "#") this.#at = lineEnd(text, this.#at);
    else if (text.startsWith("<<", this.#at) && !text.startsWith("<<<", this.#at)) this.#document();
    else if (text.startsWith("((", this.#at)) this.#at = closing(text, this.#at + 1) + 1;
    else {
      const operator = OPERATORS.find((each) => text.startsWith(each, this.#at));
      if (operator === undefined) this.#word();
      else {
        this.#at += operator.length;
        this.#finish(operator);
        if (operator === "\n") this.#bodies();
      }
    }
  }

  #word(): void {
    const start = this.#at;
    this.#at = wordEnd(this.#text, start);
    const text = this.#text.slice(start, this.#at);
    this.#words.push({ start, end: this.#at, text });
    if (text === "case" && this.#words.length === 1) this.#cases += 1;
    if (text === "in" && this.#cases > 0 && this.#words[0]?.text === "case") {
      this.#finish("in");
      this.#pattern = true;
    }
    if (text === "esac") {
      this.#cases = Math.max(0, this.#cases - 1);
      this.#pattern = false;
    }
  }

  #finish(operator: string): void {
    const words = [...this.#words];
    let negated = false;
    while (words.length > 0 && KEYWORDS.has(words[0]!.text)) {
      if (words[0]!.text === "!") negated = !negated;
      words.shift();
    }
    const pattern = this.#pattern && (operator === ")" || operator === "|");
    if (words.length > 0 || this.#documents.length > 0) {
      const [start, end] = [words[0]?.start ?? this.#at, words.at(-1)?.end ?? this.#at];
      this.#commands.push({ words, start, end, negated, operator, documents: this.#documents, pattern });
    }
    if (operator === ")") this.#pattern = false;
    if (operator === ";;" && this.#cases > 0) this.#pattern = true;
    this.#words = [];
    this.#documents = [];
  }

  /** `<<EOF`: its body begins after the line. */
  #document(): void {
    const strips = this.#text[this.#at + 2] === "-";
    let at = this.#at + (strips ? 3 : 2);
    while (this.#text[at] === " ") at += 1;
    const end = wordEnd(this.#text, at);
    const name = this.#text.slice(at, end).replace(/["'\\]/g, "");
    if (name !== "") this.#waiting.push({ end: name, strips, documents: this.#documents });
    this.#at = Math.max(end, this.#at + 2);
  }

  #bodies(): void {
    for (const { end, strips, documents } of this.#waiting) {
      const start = this.#at;
      let body = start;
      for (; this.#at < this.#text.length; ) {
        const to = lineEnd(this.#text, this.#at);
        const line = this.#text.slice(this.#at, to);
        body = this.#at;
        this.#at = Math.min(to + 1, this.#text.length);
        if ((strips ? line.replace(/^\t+/, "") : line) === end) break;
        body = this.#at;
      }
      documents.push({ start, end: body });
    }
    this.#waiting = [];
  }
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function wordEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const character = text[at]!;
    if (character === "\\") at += 2;
    else if (character === "'") at = after(text, "'", at + 1);
    else if (character === '"') at = doubleEnd(text, at + 1);
    else if (character === "`") at = after(text, "`", at + 1);
    else if ((character === "$" || character === "<" || character === ">") && text[at + 1] === "(")
      at = closing(text, at + 1) + 1;
    else if (character === "$" && text[at + 1] === "{") at = after(text, "}", at + 2);
    else if (character === "<" && text.startsWith("<<", at) && !text.startsWith("<<<", at)) break;
    else if (" \t\r\n;&|()".includes(character)) {
      if (character === "&" && (text[at - 1] === ">" || text[at - 1] === "<" || text[at + 1] === ">") && at > from)
        at += 1;
      else break;
    } else at += 1;
  }
  return Math.min(Math.max(at, from + 1), text.length);
}

function after(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end + 1;
}

function doubleEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at + 1;
    else if (text[at] === "$" && text[at + 1] === "(") at = closing(text, at + 1);
  }
  return text.length;
}

/** The place of the bracket that closes the one at `open`. Quotes inside are quotes. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === "\\") at += 1;
    else if (character === "'") at = after(text, "'", at + 1) - 1;
    else if (character === '"') at = flatDoubleEnd(text, at + 1) - 1;
    else if (character === "(") depth += 1;
    else if (character === ")") {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return text.length;
}

/** As doubleEnd, without looking into $(…) again: each character is read a bounded number of times. */
function flatDoubleEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "$" && text[at + 1] === "(") depth += 1;
    else if (text[at] === ")" && depth > 0) depth -= 1;
    else if (text[at] === '"' && depth === 0) return at + 1;
  }
  return text.length;
}
