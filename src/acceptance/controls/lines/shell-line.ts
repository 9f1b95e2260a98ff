// One line of shell as the steps it takes, and which of them decide how it ends. Read strictly: null for whatever is not
// understood in full, because a step that was overlooked could decide instead of those that were seen. Pure.
import type { Word } from "../languages/shell-words.js";
import type { Span } from "../text/brackets.js";

export interface Redirect {
  readonly operator: string;
  readonly target: string;
}

export interface Simple extends Span {
  /** `NAME=value` in front of the words. */
  readonly given: readonly Word[];
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
}

export interface Pipeline extends Span {
  readonly negated: boolean;
  readonly commands: readonly Simple[];
}

export interface Loop {
  readonly name: string;
  readonly words: readonly Word[];
}

export interface Step {
  readonly pipeline: Pipeline;
  /** Which of its two answers makes the line fail. */
  readonly failsWhen: boolean;
  /** The line fails whenever this step does. */
  readonly decides: boolean;
  readonly loop?: Loop;
}

/** A longer line was not written by a person. */
const MOST_LINE = 4_000;

export const shellSteps = (line: string): Step[] | null => {
  const tokens = line.length > MOST_LINE ? null : shellTokens(line);
  return tokens === null || tokens.length === 0 ? null : new LineReader(tokens).read();
};

interface Token extends Word {
  readonly kind: "word" | "operator" | "redirect";
}

const BLANK = /(?:[ \t\r]|\\\n)+/y;
const OPERATOR = /&&|\|\||;(?!;)|\|(?!&)|[()]/y;
const REDIRECT = /[0-9]*(?:[<>]&[0-9-]|>>|>\||[<>](?![<>(&|]))/y;

function shellTokens(text: string): Token[] | null {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? null;
  };
  while (at < text.length) {
    const blank = match(BLANK);
    if (blank !== null) {
      at += blank.length;
      continue;
    }
    const redirect = match(REDIRECT);
    const operator = redirect === null ? match(OPERATOR) : null;
    const end = redirect !== null ? at + redirect.length : operator !== null ? at + operator.length : wordEnd(text, at);
    if (end === null || end === at || text[at] === "#") return null;
    const kind = redirect !== null ? "redirect" : operator !== null ? "operator" : "word";
    tokens.push({ kind, text: text.slice(at, end), start: at, end });
    at = end;
  }
  return tokens;
}

/** null where a quote or a bracket is never closed. */
function wordEnd(text: string, from: number): number | null {
  let at: number | null = from;
  while (at !== null && at < text.length) {
    const character = text[at]!;
    if (/[\s;&|()<>]/.test(character)) break;
    at = partEnd(text, at);
  }
  return at;
}

/** The end of one character, or of all that it opens. */
function partEnd(text: string, at: number): number | null {
  switch (text[at]) {
    case "\\":
      return at + 1 < text.length ? at + 2 : null;
    case "'":
    case "`":
      return after(text, text[at]!, at + 1);
    case '"':
      return doubleEnd(text, at + 1);
    case "$":
      if (text[at + 1] === "(") return roundEnd(text, at + 2);
      if (text[at + 1] === "{") return after(text, "}", at + 2);
      return text[at + 1] === "'" ? null : at + 1;
    default:
      return at + 1;
  }
}

function after(text: string, mark: string, from: number): number | null {
  const end = text.indexOf(mark, from);
  return end < 0 ? null : end + 1;
}

function doubleEnd(text: string, from: number): number | null {
  let at: number | null = from;
  while (at !== null && at < text.length) {
    const character: string = text[at]!;
    if (character === '"') return at + 1;
    at = character === "'" ? at + 1 : partEnd(text, at);
  }
  return null;
}

function roundEnd(text: string, from: number): number | null {
  let at: number | null = from;
  for (let depth = 1; at !== null && at < text.length; ) {
    const character: string = text[at]!;
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (depth === 0) return at + 1;
    at = partEnd(text, at);
  }
  return null;
}

/** How a group of commands that says why something is wrong ends. */
type Body = "exits" | "fails" | "goes on";

interface Draft {
  readonly pipeline: Pipeline;
  readonly failsWhen: boolean;
  /** null: told by what follows. */
  decides: boolean | null;
  readonly loop?: Loop;
}

const RESERVED = new Set(
  "if then else elif fi for while until do done case esac in { } function time select coproc [[ !".split(" "),
);

/** Programs after which nobody knows what the shell does next. */
const UNFORESEEN = /^(?:exit|exec|eval|return|trap|set|shopt|alias|unalias|break|continue|\.|source|kill|wait)$/;

class LineReader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  read(): Step[] | null {
    const steps: Draft[] = [];
    let chain: Draft[] = [];
    let stops = false;
    for (;;) {
      const item = this.#item();
      if (item === null) return null;
      chain.push(item);
      steps.push(item);
      if (this.#is("||")) {
        const refusal = this.#refusal();
        if (refusal === null || refusal === "goes on") return null;
        if (refusal === "exits") for (const each of chain) each.decides ??= true;
      }
      if (this.#take("&&")) continue;
      const goesOn = this.#take(";");
      if (this.#ended) break;
      if (!goesOn) return null;
      stops ||= chain.length === 1 && setsExit(item.pipeline);
      // What is turned round never stops a shell.
      for (const each of chain) each.decides ??= stops && chain.length === 1 && !each.pipeline.negated;
      chain = [];
    }
    return steps.map((each) => ({ ...each, decides: each.decides ?? true }));
  }

  get #ended(): boolean {
    return this.#at >= this.#tokens.length;
  }

  #is(text: string): boolean {
    const token = this.#tokens[this.#at];
    return token !== undefined && token.kind !== "redirect" && token.text === text;
  }

  #take(text: string): boolean {
    const is = this.#is(text);
    if (is) this.#at += 1;
    return is;
  }

  #item(): Draft | null {
    if (this.#take("if")) return this.#condition();
    if (this.#take("for")) return this.#loop();
    const pipeline = this.#pipeline();
    return pipeline === null ? null : { pipeline, failsWhen: false, decides: null };
  }

  #pipeline(): Pipeline | null {
    const start = this.#tokens[this.#at]?.start;
    const negated = this.#take("!");
    const commands: Simple[] = [];
    do {
      const simple = this.#simple();
      if (simple === null) return null;
      commands.push(simple);
    } while (this.#take("|"));
    return { negated, commands, start: start!, end: commands.at(-1)!.end };
  }

  #simple(): Simple | null {
    const [given, words, redirects]: [Word[], Word[], Redirect[]] = [[], [], []];
    const first = this.#tokens[this.#at];
    let last = first;
    for (let token = first; token !== undefined && token.kind !== "operator"; token = this.#tokens[this.#at]) {
      this.#at += 1;
      last = token;
      if (token.kind === "redirect") {
        const isWhole = /&/.test(token.text);
        const target = isWhole ? undefined : this.#tokens[this.#at];
        if (!isWhole && target?.kind !== "word") return null;
        if (target !== undefined) this.#at += 1;
        last = target ?? token;
        redirects.push({ operator: token.text, target: target?.text ?? "" });
      } else if (words.length === 0 && /^\w+=/.test(token.text)) given.push(token);
      else if (words.length === 0 && RESERVED.has(token.text)) return null;
      else words.push(token);
    }
    if (given.length + words.length === 0) return null;
    return { given, words, redirects, start: first!.start, end: last!.end };
  }

  /** `if …; then echo no; exit 1; fi`, and the same behind `else`. */
  #condition(): Draft | null {
    const pipeline = this.#pipeline();
    if (pipeline === null || !this.#take(";") || !this.#take("then")) return null;
    const yes = this.#body(["else", "fi"]);
    const no = this.#take("else") ? this.#body(["fi"]) : "goes on";
    if (!this.#take("fi") || yes === null || no === null || (yes === "goes on") === (no === "goes on")) return null;
    const refusal = yes === "goes on" ? no : yes;
    return { pipeline, failsWhen: yes !== "goes on", decides: refusal === "exits" ? true : null };
  }

  /** `for f in cases/*.in; do … || exit 1; done`: one question, asked of each. */
  #loop(): Draft | null {
    const [name, isIn] = [this.#tokens[this.#at], this.#tokens[this.#at + 1]];
    if (name?.kind !== "word" || !/^[A-Za-z_]\w*$/.test(name.text) || isIn?.text !== "in") return null;
    this.#at += 2;
    const words: Word[] = [];
    for (let token = this.#tokens[this.#at]; token?.kind === "word"; token = this.#tokens[this.#at]) {
      words.push(token);
      this.#at += 1;
    }
    if (words.length === 0 || !this.#take(";") || !this.#take("do")) return null;
    let item = this.#item();
    // What is said first, about what comes.
    while (item !== null && isSaid(item.pipeline) && this.#take(";")) item = this.#item();
    if (item === null || item.loop !== undefined) return null;
    if (this.#is("||") && this.#refusal() === "exits") item.decides = true;
    if (item.decides !== true) return null;
    this.#take(";");
    return this.#take("done") ? { ...item, loop: { name: name.text, words } } : null;
  }

  #refusal(): Body | null {
    this.#at += 1;
    if (this.#take("{")) {
      const body = this.#body(["}"]);
      return this.#take("}") ? body : null;
    }
    if (this.#take("(")) {
      const body = this.#body([")"]);
      // What leaves a shell of its own leaves no other.
      return !this.#take(")") ? null : body === "exits" ? "fails" : body;
    }
    const simple = this.#simple();
    if (simple === null) return null;
    return simple.words.map(({ text }) => text).join(" ") === "exit $?" ? "exits" : bodyOf([simple], false);
  }

  #body(ends: readonly string[]): Body | null {
    const said: Simple[] = [];
    let chained = false;
    while (!this.#ended && !ends.some((end) => this.#is(end))) {
      const simple = this.#simple();
      if (simple === null) return null;
      said.push(simple);
      const isChained = this.#take("&&");
      chained ||= isChained;
      if (!isChained && !this.#take(";")) break;
    }
    return said.length === 0 ? null : bodyOf(said, chained);
  }
}

/** Chained by `&&`, whatever stands before the end must not be able to fail. */
function bodyOf(commands: readonly Simple[], chained: boolean): Body | null {
  const last = commands.at(-1)!.words.map(({ text }) => text);
  const before = commands.slice(0, -1);
  const isForeseen = ({ words }: Simple) => !chained && !UNFORESEEN.test(words[0]?.text ?? "exit");
  if (!before.every((each) => says(each) || isForeseen(each))) return null;
  if (last.length === 2 && last[0] === "exit" && /^[1-9][0-9]?$/.test(last[1]!)) return "exits";
  if (last.length === 1 && last[0] === "false") return "fails";
  return commands.every(says) ? "goes on" : null;
}

const says = ({ words }: Simple): boolean => /^(?:echo|printf|:|true)$/.test(words[0]?.text ?? "");
const isSaid = ({ commands }: Pipeline): boolean => commands.length === 1 && says(commands[0]!);

const setsExit = ({ commands, negated }: Pipeline): boolean =>
  commands.length === 1 &&
  !negated &&
  commands[0]!.words[0]?.text === "set" &&
  /^-[ux]*e[ux]*$/.test(commands[0]!.words[1]?.text ?? "");
