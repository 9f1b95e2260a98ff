// A source text with its comments and the insides of its strings blanked out, position for position, so that what is left
// can be searched without a parser. Linear in the text's length.

export type Language = "javascript" | "python" | "go" | "rust" | "java" | "c" | "ruby" | "php";

/** Stands where a character of a string was. */
export const IN_STRING = "\u0001";

interface Syntax {
  readonly line: readonly string[];
  readonly block: boolean;
  /** Quotes whose strings end with their line. */
  readonly quotes: string;
  /** Quotes whose strings may hold line breaks and no escapes. */
  readonly raw: string;
  readonly triple: boolean;
}

const C_LIKE: Syntax = { line: ["//"], block: true, quotes: "\"'", raw: "", triple: false };
const SYNTAX: Readonly<Record<Language, Syntax>> = {
  javascript: C_LIKE,
  c: C_LIKE,
  java: { ...C_LIKE, triple: true },
  go: { ...C_LIKE, raw: "`" },
  rust: { ...C_LIKE, quotes: '"' },
  php: { ...C_LIKE, line: ["//", "#"] },
  python: { line: ["#"], block: false, quotes: "\"'", raw: "", triple: true },
  ruby: { line: ["#"], block: false, quotes: "\"'", raw: "", triple: false },
};

export function maskText(text: string, language: Language): string {
  return new Masker(text, language).run();
}

class Masker {
  readonly #text: string;
  readonly #language: Language;
  readonly #syntax: Syntax;
  readonly #out: string[] = [];
  /** Braces open inside each template literal's `${…}`. */
  readonly #templates: number[] = [];
  #at = 0;
  /** The last character that is neither blank nor in a comment. */
  #before = "";

  constructor(text: string, language: Language) {
    this.#text = text;
    this.#language = language;
    this.#syntax = SYNTAX[language];
  }

  run(): string {
    while (this.#at < this.#text.length) this.#step();
    return this.#out.join("");
  }

  #step(): void {
    const text = this.#text;
    const character = text[this.#at]!;
    const comment = this.#commentEnd();
    const end = comment > this.#at ? -1 : this.#stringEnd(character);
    if (comment > this.#at) this.#blank(comment, " ");
    else if (end > this.#at) this.#string(end, 1);
    else if (this.#language === "javascript" && this.#inTemplate(character)) this.#template(this.#at + 1);
    else {
      this.#out.push(character);
      if (character.trim() !== "") this.#before = character;
      this.#at += 1;
    }
  }

  /** Whether a template literal begins here, or goes on after its `${…}`. */
  #inTemplate(character: string): boolean {
    if (character === "`") return true;
    const last = this.#templates.length - 1;
    if (last < 0) return false;
    if (character === "{") this.#templates[last]! += 1;
    if (character !== "}") return false;
    this.#templates[last]! -= 1;
    if (this.#templates[last]! >= 0) return false;
    this.#templates.pop();
    return true;
  }

  #commentEnd(): number {
    const text = this.#text;
    if (this.#syntax.line.some((mark) => text.startsWith(mark, this.#at))) {
      const end = text.indexOf("\n", this.#at);
      return end < 0 ? text.length : end;
    }
    if (!this.#syntax.block || !text.startsWith("/*", this.#at)) return -1;
    const end = text.indexOf("*/", this.#at + 2);
    return end < 0 ? text.length : end + 2;
  }

  /** Where the string that begins here ends, quotes included; -1 when none begins. */
  #stringEnd(quote: string): number {
    const { triple, quotes, raw } = this.#syntax;
    const text = this.#text;
    if (this.#language === "rust") {
      const end = rustEnd(text, this.#at);
      if (end !== -1) return end;
    }
    if (this.#language === "javascript" && quote === "/" && this.#regexMayStart()) return regexEnd(text, this.#at);
    if (raw.includes(quote)) return after(text, quote, this.#at + 1);
    if (!quotes.includes(quote)) return -1;
    const three = quote.repeat(3);
    if (triple && text.startsWith(three, this.#at)) return escapedEnd(text, this.#at + 3, three, false);
    return escapedEnd(text, this.#at + 1, quote, this.#language !== "rust");
  }

  #regexMayStart(): boolean {
    if (this.#before === "" || "(,=:[!&|?{};+-*%<>~^".includes(this.#before)) return true;
    const word = this.#out.slice(-12).join("").trimEnd();
    return /\b(?:return|typeof|case|in|of|await|yield|void|delete)$/.test(word);
  }

  #template(from: number): void {
    const text = this.#text;
    let end = from;
    while (end < text.length && text[end] !== "`" && !text.startsWith("${", end)) end += text[end] === "\\" ? 2 : 1;
    const opens = text.startsWith("${", end);
    this.#out.push(text[this.#at]!);
    this.#at += 1;
    this.#blank(Math.min(end, text.length), IN_STRING);
    const mark = opens ? "${" : text.slice(end, end + 1);
    this.#out.push(mark);
    this.#at += mark.length;
    this.#before = opens ? "{" : "`";
    if (opens) this.#templates.push(0);
  }

  #string(end: number, quote: number): void {
    this.#out.push(this.#text.slice(this.#at, this.#at + quote));
    this.#at += quote;
    this.#blank(end - quote, IN_STRING);
    this.#out.push(this.#text.slice(this.#at, end));
    this.#at = end;
    this.#before = '"';
  }

  #blank(end: number, filler: string): void {
    if (end <= this.#at) return;
    this.#out.push(this.#text.slice(this.#at, end).replace(/[^\n]/g, filler));
    this.#at = end;
  }
}

function after(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end + mark.length;
}

function escapedEnd(text: string, from: number, close: string, oneLine: boolean): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text.startsWith(close, at)) return at + close.length;
    else if (oneLine && text[at] === "\n") return at;
  }
  return text.length;
}

function regexEnd(text: string, from: number): number {
  let inClass = false;
  for (let at = from + 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\n") return -1;
    if (character === "\\") at += 1;
    else if (character === "[") inClass = true;
    else if (character === "]") inClass = false;
    else if (character === "/" && !inClass) return at + 1;
  }
  return -1;
}

/** Raw strings and characters; a lifetime is neither. */
function rustEnd(text: string, at: number): number {
  if (text[at] === "'") {
    if (text[at + 1] === "\\") return after(text, "'", at + 3);
    return text[at + 2] === "'" ? at + 3 : at + 1;
  }
  if (text[at] !== "r" || /\w/.test(text[at - 1] ?? "")) return -1;
  let hashes = at + 1;
  while (text[hashes] === "#") hashes += 1;
  return text[hashes] === '"' ? after(text, `"${"#".repeat(hashes - at - 1)}`, hashes + 1) : -1;
}
