// Reads a shell command line far enough to know which programs it starts, with which words and redirections. It does not
// expand anything: a word that depends on expansion is marked, and whoever reads it must assume the worst.

export interface Word {
  readonly text: string;
  /** Contains a variable, a substitution, a pattern or an escape we do not evaluate. */
  readonly dynamic: boolean;
}

export interface Redirect {
  readonly operator: string;
  readonly target: Word;
}

export interface SimpleCommand {
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  /** Here-document or here-string text fed to it. */
  readonly input: string | null;
  /** Reads the output of the command before it. */
  readonly piped: boolean;
  /** Text of the substitutions in its words, to be read in turn. */
  readonly nested: readonly string[];
  /** The same for its here-documents. */
  readonly inputNested: readonly string[];
}

export interface ParsedShell {
  readonly commands: readonly SimpleCommand[];
  /** false when quotes or brackets do not close: nobody can say what a shell would make of it. */
  readonly complete: boolean;
  /** More than MAX_SHELL_COMMANDS: what follows was not read. */
  readonly tooMany: boolean;
}

/** More than anybody writes into one; beyond, to clear up after reading takes longer than the reading. */
export const MAX_SHELL_COMMANDS = 4_000;

interface CommandDraft {
  words: Word[];
  redirects: Redirect[];
  input: string | null;
  piped: boolean;
  nested: string[];
  inputNested: string[];
}

interface HereDocument {
  readonly delimiter: string;
  readonly indented: boolean;
  /** A delimiter in quotes: the shell expands nothing in it. */
  readonly quoted: boolean;
  readonly owner: CommandDraft;
}

const draft = (piped: boolean): CommandDraft => ({
  words: [],
  redirects: [],
  input: null,
  piped,
  nested: [],
  inputNested: [],
});

// Sticky, so that each looks at the cursor only. None can go back over what it has passed: every character is looked at
// a bounded number of times.
const BLANKS = /[^\S\n]+/y;
const HERE_STRING = /\d{0,9}<<</y;
const HERE_DOCUMENT = /\d{0,9}<<(-?)/y;
const PROCESS = /[<>](?=\()/y;
const REDIRECT = /(?:\d{0,9}|&|\{\w{1,64}\})(?:>>|>\||>&|<>|>)|\d{0,9}<&?/y;
const SEPARATOR = /\|\||&&|\|&|;;&?|[;&|()]/y;
const PLAIN = /[^\s;&|<>()'"\\$`*?[{]+/y;
const PLAIN_QUOTED = /[^"\\$`]+/y;
const PLAIN_INPUT = /[^\\$`]+/y;
const VARIABLE = /\w+|[@*#?$!-]/y;
const BRACES = /\{[^{}\s]*\}/y;

export function parseShell(source: string): ParsedShell {
  return new Scanner(source).run();
}

/** A cursor over the text; a class because the position and the word being built live as long as the scan. */
class Scanner {
  readonly #text: string;
  #at = 0;
  #complete = true;
  #nested: string[];
  readonly #commands: SimpleCommand[] = [];
  #current = draft(false);
  readonly #heredocs: HereDocument[] = [];

  constructor(text: string) {
    this.#text = text.replace(/\\\r?\n/g, "");
    this.#nested = this.#current.nested;
  }

  run(): ParsedShell {
    while (this.#at < this.#text.length && this.#commands.length <= MAX_SHELL_COMMANDS) this.#step();
    this.#end(false);
    const complete = this.#complete && this.#heredocs.length === 0;
    return { commands: this.#commands, complete, tooMany: this.#commands.length > MAX_SHELL_COMMANDS };
  }

  /** What a pattern matches at the cursor, stepped over; null when it does not. */
  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at += match[0].length;
    return match;
  }

  #step(): void {
    this.#take(BLANKS);
    if (this.#at === this.#text.length) return;
    if (this.#text[this.#at] === "\n") this.#newline();
    else if (this.#text[this.#at] === "#") this.#comment();
    else if (this.#take(HERE_STRING) !== null) this.#hereString();
    else this.#operatorOrWord();
  }

  #operatorOrWord(): void {
    const heredoc = this.#take(HERE_DOCUMENT);
    const process = heredoc === null ? this.#take(PROCESS) : null;
    const redirect = heredoc === null && process === null ? this.#take(REDIRECT) : null;
    if (heredoc !== null) this.#heredoc(heredoc[1] === "-");
    else if (process !== null) this.#processSubstitution();
    else if (redirect !== null) this.#redirect(redirect[0]);
    else this.#separatorOrWord();
  }

  #separatorOrWord(): void {
    const separator = this.#take(SEPARATOR)?.[0];
    if (separator !== undefined) {
      this.#end(separator === "|" || separator === "|&");
      return;
    }
    const word = this.#word();
    // Grammar words stand in front of a command of their own.
    if (this.#current.words.length === 0 && KEYWORDS.has(word.text) && !word.dynamic) return;
    // `function f {` and `coproc f {`: the name is over, what it does begins.
    if (this.#current.words.length === 1 && word.text === "{") this.#end(false);
    else this.#current.words.push(word);
  }

  #comment(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }

  #processSubstitution(): void {
    this.#current.words.push({ text: "", dynamic: true });
    this.#capture("(", ")");
  }

  #newline(): void {
    this.#at += 1;
    for (const { owner, quoted, ...ending } of this.#heredocs.splice(0)) {
      const body = this.#bodyUpTo(ending);
      owner.input = `${owner.input ?? ""}${body}`;
      if (quoted) continue;
      const inside = new Scanner(body).#expansions();
      for (const text of inside.nested) owner.inputNested.push(text);
      if (!inside.complete) this.#complete = false;
    }
    this.#end(false);
  }

  /** The lines of a here-document, stepped over together with the one that ends it. */
  #bodyUpTo({ delimiter, indented }: Pick<HereDocument, "delimiter" | "indented">): string {
    const start = this.#at;
    while (this.#at < this.#text.length) {
      const lineStart = this.#at;
      const newline = this.#text.indexOf("\n", lineStart);
      const line = this.#text.slice(lineStart, newline < 0 ? this.#text.length : newline);
      this.#at = newline < 0 ? this.#text.length : newline + 1;
      if ((indented ? withoutTabs(line) : line) === delimiter) return this.#text.slice(start, lineStart);
    }
    this.#complete = false;
    return this.#text.slice(start);
  }

  /** The substitutions in a here-document, where quotes mean nothing. */
  #expansions(): { readonly nested: readonly string[]; readonly complete: boolean } {
    while (this.#at < this.#text.length) {
      if (this.#text[this.#at] === "\\") this.#at += 2;
      else if (this.#take(PLAIN_INPUT) === null) this.#expansion();
    }
    return { nested: this.#nested, complete: this.#complete };
  }

  #end(pipes: boolean): void {
    const { words, redirects, input } = this.#current;
    // A here-document is filled in after its line ends, so the very object that is being built is kept.
    if (words.length > 0 || redirects.length > 0 || input !== null) this.#commands.push(this.#current);
    this.#current = draft(pipes);
    this.#nested = this.#current.nested;
  }

  #hereString(): void {
    this.#take(BLANKS);
    this.#current.input = this.#word().text;
  }

  #heredoc(indented: boolean): void {
    this.#take(BLANKS);
    const start = this.#at;
    const delimiter = this.#word().text;
    const quoted = /['"\\]/.test(this.#text.slice(start, this.#at));
    this.#heredocs.push({ delimiter, indented, quoted, owner: this.#current });
  }

  #redirect(operator: string): void {
    this.#take(BLANKS);
    this.#current.redirects.push({ operator, target: this.#word() });
  }

  #word(): Word {
    let text = "";
    let dynamic = false;
    while (this.#at < this.#text.length) {
      const plain = this.#take(PLAIN);
      if (plain !== null) {
        text += plain[0];
        continue;
      }
      const char = this.#text[this.#at]!;
      if (char === "'") text += this.#singleQuoted();
      else if (char === '"') {
        const quoted = this.#doubleQuoted();
        text += quoted.text;
        dynamic ||= quoted.dynamic;
      } else if (char === "\\") text += this.#escaped();
      else if (char === "$" || char === "`") {
        dynamic = true;
        text += this.#expansion();
      } else if ("*?[{".includes(char)) {
        dynamic ||= char !== "{" || this.#isBraceList();
        text += char;
        this.#at += 1;
      } else break;
    }
    // A command of its own, and no pattern.
    return { text, dynamic: dynamic && text !== "[" && text !== "[[" };
  }

  /** `{a,b}` or `{1..3}` at the cursor. A bracket inside ends the look, so no character is looked at twice. */
  #isBraceList(): boolean {
    BRACES.lastIndex = this.#at;
    const list = BRACES.exec(this.#text)?.[0];
    return list !== undefined && (list.includes(",") || list.includes("."));
  }

  #escaped(): string {
    const char = this.#text[this.#at + 1] ?? "";
    this.#at += 2;
    return char;
  }

  #singleQuoted(): string {
    const end = this.#text.indexOf("'", this.#at + 1);
    const inner = this.#text.slice(this.#at + 1, end < 0 ? this.#text.length : end);
    if (end < 0) this.#complete = false;
    this.#at = end < 0 ? this.#text.length : end + 1;
    return inner;
  }

  #doubleQuoted(): Word {
    let text = "";
    let dynamic = false;
    this.#at += 1;
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') {
      const plain = this.#take(PLAIN_QUOTED);
      if (plain !== null) text += plain[0];
      else if (this.#text[this.#at] === "\\") text += this.#escaped();
      else {
        dynamic = true;
        text += this.#expansion();
      }
    }
    if (this.#at >= this.#text.length) this.#complete = false;
    this.#at += 1;
    return { text, dynamic };
  }

  /** Steps over `$x`, `${x}`, `$(…)`, `$((…))`, `` `…` `` and `$'…'`; keeps the text of what would be run. */
  #expansion(): string {
    const start = this.#at;
    if (this.#text[start] === "`") this.#backquoted();
    else {
      this.#at += 1;
      const next = this.#text[this.#at];
      if (next === "(") this.#capture("(", ")");
      else if (next === "{") this.#capture("{", "}");
      else if (next === "'") this.#singleQuoted();
      else this.#take(VARIABLE);
    }
    return this.#text.slice(start, this.#at);
  }

  #backquoted(): void {
    const start = this.#at + 1;
    this.#at = start;
    while (this.#at < this.#text.length && this.#text[this.#at] !== "`")
      this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    if (this.#at >= this.#text.length) this.#complete = false;
    this.#nested.push(this.#text.slice(start, this.#at));
    this.#at += 1;
  }

  /** From an opening bracket to the one that closes it, quotes respected. */
  #capture(open: string, close: string): void {
    const start = this.#at + 1;
    let depth = 0;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!;
      if (char === "\\") this.#at += 1;
      else if (char === "'") {
        this.#singleQuoted();
        continue;
      } else if (char === open) depth += 1;
      else if (char === close) {
        depth -= 1;
        if (depth === 0) {
          this.#nested.push(this.#text.slice(start, this.#at));
          this.#at += 1;
          return;
        }
      }
      this.#at += 1;
    }
    this.#complete = false;
  }
}

function withoutTabs(line: string): string {
  let at = 0;
  while (line[at] === "\t") at += 1;
  return line.slice(at);
}

const KEYWORDS = new Set([
  "if",
  "then",
  "elif",
  "else",
  "fi",
  "for",
  "while",
  "until",
  "do",
  "done",
  "case",
  "esac",
  "in",
  "{",
  "}",
  "!",
  "function",
  "select",
  "coproc",
  "time",
]);

/** The word as it stands, or null when nobody can tell before the shell has expanded it. */
export function literal(word: Word | undefined): string | null {
  return word === undefined || word.dynamic || word.text === "" ? null : word.text;
}

/** What `echo` or `printf` of plain words prints, else null. */
export function echoedText({ words }: SimpleCommand): string | null {
  const [program, ...args] = words;
  if (program === undefined || !/^(?:echo|printf)$/.test(program.text) || args.some(({ dynamic }) => dynamic))
    return null;
  const shown = args.filter(({ text }) => !/^-[neE]+$/.test(text));
  // Other escapes stand for letters that are not read here.
  if (shown.some(({ text }) => /\\[^n]/.test(text))) return null;
  return shown.map(({ text }) => text.replaceAll("\\n", "\n")).join(" ");
}
