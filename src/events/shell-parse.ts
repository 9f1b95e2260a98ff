// Reads a shell command line far enough to know which programs it starts, with which words and redirections. It does not
// expand anything: a word that depends on expansion is marked, and whoever judges it must assume the worst.

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
}

export interface ParsedShell {
  readonly commands: readonly SimpleCommand[];
  /** Text of command and process substitutions, to be parsed in turn. */
  readonly nested: readonly string[];
  /** false when quotes or brackets do not close: nobody can say what a shell would make of it. */
  readonly complete: boolean;
}

interface Building {
  words: Word[];
  redirects: Redirect[];
  input: string | null;
  piped: boolean;
}

const REDIRECT = /^(?:\d*|&|\{\w+\})(?:>>|>\||>&|<>|>)/;

export function parseShell(source: string): ParsedShell {
  return new Scanner(source).run();
}

/** A cursor over the text; a class because the position and the word being built live as long as the scan. */
class Scanner {
  private readonly text: string;
  private at = 0;
  private complete = true;
  private readonly nested: string[] = [];
  private readonly commands: SimpleCommand[] = [];
  private current: Building = { words: [], redirects: [], input: null, piped: false };
  private readonly heredocs: { delimiter: string; indented: boolean; owner: Building }[] = [];

  constructor(text: string) {
    this.text = text.replace(/\\\r?\n/g, "");
  }

  run(): ParsedShell {
    while (this.at < this.text.length) this.step();
    this.end(false);
    return { commands: this.commands, nested: this.nested, complete: this.complete && this.heredocs.length === 0 };
  }

  private step(): void {
    const rest = this.text.slice(this.at, this.at + 64);
    const char = rest[0]!;
    if (char === "\n") this.newline();
    else if (/\s/.test(char)) this.at += 1;
    else if (char === "#") this.comment();
    else if (rest.startsWith("<<<")) this.hereString();
    else if (/^\d*<</.test(rest)) this.heredoc();
    else if (/^[<>]\(/.test(rest)) this.processSubstitution();
    else this.wordOrOperator(rest);
  }

  private wordOrOperator(rest: string): void {
    const redirect = REDIRECT.exec(rest) ?? /^\d*<&?/.exec(rest);
    if (redirect !== null) {
      this.redirect(redirect[0]);
      return;
    }
    const separator = /^(?:\|\||&&|\|&|;;&?|[;&|()])/.exec(rest)?.[0];
    if (separator !== undefined) {
      this.at += separator.length;
      this.end(separator === "|" || separator === "|&");
      return;
    }
    const word = this.word();
    // Grammar words stand in front of a command of their own.
    if (this.current.words.length === 0 && KEYWORDS.has(word.text) && !word.dynamic) return;
    this.current.words.push(word);
  }

  private comment(): void {
    const end = this.text.indexOf("\n", this.at);
    this.at = end < 0 ? this.text.length : end;
  }

  private processSubstitution(): void {
    this.current.words.push({ text: "", dynamic: true });
    this.at += 1;
    this.capture("(", ")");
  }

  private newline(): void {
    this.at += 1;
    for (const { delimiter, indented, owner } of this.heredocs.splice(0)) {
      const lines: string[] = [];
      let closed = false;
      while (this.at < this.text.length && !closed) {
        const end = this.text.indexOf("\n", this.at);
        const line = this.text.slice(this.at, end < 0 ? this.text.length : end);
        this.at = end < 0 ? this.text.length : end + 1;
        closed = (indented ? line.replace(/^\t+/, "") : line) === delimiter;
        if (!closed) lines.push(line);
      }
      if (!closed) this.complete = false;
      owner.input = `${owner.input ?? ""}${lines.join("\n")}\n`;
      for (const inner of lines.join("\n").matchAll(/\$\(([^()]*)\)|`([^`]*)`/g))
        this.nested.push(inner[1] ?? inner[2]!);
    }
    this.end(false);
  }

  private end(pipes: boolean): void {
    const { words, redirects, input } = this.current;
    // A here-document is filled in after its line ends, so the very object that is being built is kept.
    if (words.length > 0 || redirects.length > 0 || input !== null) this.commands.push(this.current);
    this.current = { words: [], redirects: [], input: null, piped: pipes };
  }

  private hereString(): void {
    this.at += 3;
    this.skipBlanks();
    const word = this.word();
    this.current.input = word.text;
  }

  private heredoc(): void {
    const head = /^\d*<<(-?)/.exec(this.text.slice(this.at))!;
    this.at += head[0].length;
    this.skipBlanks();
    this.heredocs.push({ delimiter: this.word().text, indented: head[1] === "-", owner: this.current });
  }

  private redirect(operator: string): void {
    this.at += operator.length;
    this.skipBlanks();
    this.current.redirects.push({ operator, target: this.word() });
  }

  private skipBlanks(): void {
    while (this.text[this.at] === " " || this.text[this.at] === "\t") this.at += 1;
  }

  private word(): Word {
    let text = "";
    let dynamic = false;
    while (this.at < this.text.length) {
      const char = this.text[this.at]!;
      if (/[\s;&|<>()]/.test(char)) break;
      if (char === "'") text += this.singleQuoted();
      else if (char === '"') {
        const quoted = this.doubleQuoted();
        text += quoted.text;
        dynamic ||= quoted.dynamic;
      } else if (char === "\\") {
        text += this.text[this.at + 1] ?? "";
        this.at += 2;
      } else if (char === "$" || char === "`") {
        dynamic = true;
        text += this.expansion();
      } else {
        if (/[*?[]/.test(char) || (char === "{" && /^\{[^{}\s]*[,.][^{}\s]*\}/.test(this.text.slice(this.at))))
          dynamic = true;
        text += char;
        this.at += 1;
      }
    }
    return { text, dynamic };
  }

  private singleQuoted(): string {
    const end = this.text.indexOf("'", this.at + 1);
    const inner = this.text.slice(this.at + 1, end < 0 ? this.text.length : end);
    if (end < 0) this.complete = false;
    this.at = end < 0 ? this.text.length : end + 1;
    return inner;
  }

  private doubleQuoted(): Word {
    let text = "";
    let dynamic = false;
    this.at += 1;
    while (this.at < this.text.length && this.text[this.at] !== '"') {
      const char = this.text[this.at]!;
      if (char === "\\") {
        text += this.text[this.at + 1] ?? "";
        this.at += 2;
      } else if (char === "$" || char === "`") {
        dynamic = true;
        text += this.expansion();
      } else {
        text += char;
        this.at += 1;
      }
    }
    if (this.at >= this.text.length) this.complete = false;
    this.at += 1;
    return { text, dynamic };
  }

  /** Steps over `$x`, `${x}`, `$(…)`, `$((…))`, `` `…` `` and `$'…'`; keeps the text of what would be run. */
  private expansion(): string {
    const start = this.at;
    const char = this.text[this.at];
    if (char === "`") {
      let end = this.at + 1;
      while (end < this.text.length && this.text[end] !== "`") end += this.text[end] === "\\" ? 2 : 1;
      if (end >= this.text.length) this.complete = false;
      this.nested.push(this.text.slice(start + 1, end));
      this.at = end + 1;
      return this.text.slice(start, this.at);
    }
    this.at += 1;
    const next = this.text[this.at];
    if (next === "(") this.capture("(", ")");
    else if (next === "{") this.capture("{", "}");
    else if (next === "'") this.singleQuoted();
    else if (next !== undefined && next !== '"') {
      const name = /^(?:\w+|[@*#?$!-])/.exec(this.text.slice(this.at))?.[0] ?? "";
      this.at += name.length;
    }
    return this.text.slice(start, this.at);
  }

  /** From an opening bracket to the one that closes it, quotes respected. */
  private capture(open: string, close: string): void {
    const start = this.at + 1;
    let depth = 0;
    while (this.at < this.text.length) {
      const char = this.text[this.at]!;
      if (char === "\\") this.at += 1;
      else if (char === "'") {
        this.singleQuoted();
        continue;
      } else if (char === open) depth += 1;
      else if (char === close) {
        depth -= 1;
        if (depth === 0) {
          this.nested.push(this.text.slice(start, this.at));
          this.at += 1;
          return;
        }
      }
      this.at += 1;
    }
    this.complete = false;
  }
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
  return shown.map(({ text }) => text.replaceAll("\\n", "\n")).join(" ");
}
