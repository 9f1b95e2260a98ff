// Which shell commands write files, as far as a reader can honestly tell. What it cannot see (a script that writes, a build
// that leaves files) is the sandbox's and the tree comparison's work; what it cannot read counts as writing.

import { evaluatesText, setsWhatRuns } from "./shell-inline.js";
import { interpreterWrites } from "./shell-interpreters.js";
import { echoedText, literal, parseShell, type SimpleCommand, type Word } from "./shell-parse.js";
import { baseName, PROGRAMS, rowOf, SHELLS, type ShellWrite, write } from "./shell-programs.js";
import { keepsOutput, unwrap } from "./shell-wrappers.js";

export type { ShellWrite };

/** A command inside a command inside a command: nobody writes more of them by hand. */
export const MAX_SHELL_DEPTH = 8;
/** A fraction of a second to read, whatever it holds. Text inside text is read again and counts again. */
export const MAX_SHELL_CHARS = 64 * 1024;
/** For each file the gate asks the disk what it is. */
const MAX_WRITES = 500;

/** A program as it would be started, wrappers like `sudo` and `env` taken off. */
export interface StartedProgram {
  readonly name: string;
  readonly args: readonly Word[];
  /** Whether a pipe or a here-document is its input. */
  readonly fed: boolean;
}

export interface ShellReading {
  readonly writes: readonly ShellWrite[];
  readonly programs: readonly StartedProgram[];
}

export function readShell(command: string): ShellReading {
  const reader = new ShellReader();
  reader.readText(command, { depth: 0, folder: "" });
  return reader;
}

/** Where a command stands in the whole: how deep, and in which folder. */
interface Position {
  readonly depth: number;
  /** Relative to where the shell starts; null when nobody can tell. */
  readonly folder: string | null;
}

/** A class because what was found, and how much may still be read, live as long as the reading. */
class ShellReader implements ShellReading {
  readonly writes: ShellWrite[] = [];
  readonly programs: StartedProgram[] = [];
  #left = MAX_SHELL_CHARS;
  #gaveUp = false;

  readText(source: string, position: Position): void {
    if (!this.#mayRead(source.length, position)) return;
    const { commands, complete, tooMany } = parseShell(source);
    if (tooMany) {
      this.#giveUp("it starts too many programs to look at");
      return;
    }
    if (!complete) this.#add(write("a command whose quotes do not close", null), position);
    let folder = position.folder;
    commands.forEach((command, i) => {
      const here = { depth: position.depth, folder };
      for (const redirection of redirections(command)) this.#add(redirection, here);
      this.#readProgram(command, commands[i - 1], here);
      for (const inner of command.nested) this.readText(inner, inward(here));
      folder = changeFolder(folder, command.words);
    });
  }

  /** Programs that run what they are given as words. */
  #readWords(words: readonly Word[], position: Position): void {
    if (!this.#mayRead(words.length, position)) return;
    this.#readProgram(
      { words, redirects: [], input: null, piped: false, nested: [], inputNested: [] },
      undefined,
      position,
    );
  }

  /** Every text and every list of words comes past here. Once something was too long or too deep, nothing more is read. */
  #mayRead(size: number, { depth }: Position): boolean {
    if (this.#gaveUp) return false;
    this.#left -= size;
    if (depth > MAX_SHELL_DEPTH) this.#giveUp("it is nested too deep to read");
    else if (this.#left < 0) this.#giveUp("it is too long to read");
    return !this.#gaveUp;
  }

  #giveUp(how: string): void {
    this.#gaveUp = true;
    this.writes.push(write(how, null, "undecided"));
  }

  #add(write: ShellWrite, { folder }: Position): void {
    if (this.#gaveUp) return;
    if (this.writes.length >= MAX_WRITES) this.#giveUp("it names too many files to look at");
    else this.writes.push({ ...write, path: possible(inFolder(folder, write.path)) });
  }

  #readProgram(command: SimpleCommand, before: SimpleCommand | undefined, position: Position): void {
    for (const inner of command.inputNested) this.readText(inner, inward(position));
    if (setsWhatRuns(command.words)) this.#add(write("a variable that runs something", null), position);
    if (keepsOutput(command.words)) this.#add(write(`${command.words[0]!.text} -o`, null), position);
    const words = unwrap(command.words);
    if (words === "unreadable") {
      this.#add(write("a program name that is computed", null), position);
      return;
    }
    const [program, ...args] = words;
    if (program === undefined) return;
    const name = baseName(program.text);
    if (evaluatesText(name, args)) this.#add(write(`${name} of text that runs something`, null), position);
    this.programs.push({ name, args, fed: command.piped || command.input !== null });
    const script = scriptOf(name, args, command, before);
    if (script === null) this.#readArguments(name, args, { command, before, position });
    else if ("text" in script) this.readText(script.text, inward(position));
    else this.#add(write(script.unreadable, null), position);
  }

  #readArguments(
    name: string,
    args: readonly Word[],
    { command, before, position }: { command: SimpleCommand; before: SimpleCommand | undefined; position: Position },
  ): void {
    if (name === "trap" || name === "alias") {
      for (const { text } of args) this.readText(text.replace(/^\w+=/, ""), inward(position));
      // What is behind the name later is not here to be read.
      if (name === "alias" && args.some(({ text }) => text.includes("=")))
        this.#add(write("an alias", null, "tool"), position);
    } else if (name === "find" || name === "fd" || name === "fdfind") this.#readFind(args, position);
    else if (name === "xargs" || name === "parallel") this.#readArgumentRunner(args, position);
    else {
      const interpreted = interpreterWrites(name, args, command, command.piped ? (before ?? null) : null);
      for (const one of interpreted ?? rowOf(PROGRAMS, name)?.(args) ?? []) this.#add(one, position);
    }
  }

  #readFind(args: readonly Word[], position: Position): void {
    for (let i = 0; i < args.length; i += 1) {
      const { text } = args[i]!;
      if (text === "-delete") this.#add(write("find -delete", null), position);
      else if (/^-f(?:print0?|printf|ls)$/.test(text)) this.#add(write(`find ${text}`, literal(args[i + 1])), position);
      else if (/^(?:-(?:exec|execdir|ok|okdir)|-[xX]|--exec(?:-batch)?)$/.test(text)) {
        const start = i + 1;
        // What follows the end belongs to find again; what is before it does not.
        while (i + 1 < args.length && args[i + 1]!.text !== ";" && args[i + 1]!.text !== "+") i += 1;
        this.#readArgumentRunner(args.slice(start, i + 1), position);
      }
    }
  }

  /** A program whose last arguments are supplied at run time: a relative target cannot be told. */
  #readArgumentRunner(args: readonly Word[], position: Position): void {
    const start = args.findIndex(
      ({ text }, i) => !text.startsWith("-") && !/^-(?:[InPLsdEa]|-max-\w+)$/.test(args[i - 1]?.text ?? ""),
    );
    if (start < 0) return;
    this.#readWords([...args.slice(start), { text: "UNKNOWN", dynamic: true }], { ...inward(position), folder: null });
  }
}

type Script = { readonly text: string } | { readonly unreadable: string };

/** Text run by a shell: `bash -c`, `eval`, a here-document, or whatever a pipe delivers. null when there is none. */
function scriptOf(
  name: string,
  args: readonly Word[],
  command: SimpleCommand,
  before: SimpleCommand | undefined,
): Script | null {
  if (name === "eval") {
    if (args.some(({ dynamic }) => dynamic)) return { unreadable: "eval of computed text" };
    return { text: args.map(({ text }) => text).join(" ") };
  }
  if (!SHELLS.has(name) && name !== "source" && name !== ".") return null;
  const flag = args.findIndex(({ text }) => /^-(?:[a-z]*c|-command)$/.test(text));
  if (flag >= 0) {
    const script = args.slice(flag + 1).find(({ text }) => text !== "--");
    const readable = script !== undefined && !script.dynamic;
    return readable ? { text: script.text } : { unreadable: `${name} -c with computed text` };
  }
  if (command.input !== null) return { text: command.input };
  if (args.some(({ text, dynamic }) => dynamic && text === "")) return { unreadable: `${name} of a substitution` };
  if (!command.piped || !args.every(({ text }) => text.startsWith("-"))) return null;
  const echoed = before === undefined ? null : echoedText(before);
  return echoed === null ? { unreadable: `text piped into ${name}` } : { text: echoed };
}

/** Longer than any disk takes: `cd` after `cd` can make one of any length. */
const MAX_PATH_CHARS = 4096;
const possible = (path: string | null): string | null => (path !== null && path.length > MAX_PATH_CHARS ? null : path);

const inward = ({ depth, folder }: Position): Position => ({ depth: depth + 1, folder });

function redirections({ redirects }: SimpleCommand): ShellWrite[] {
  return redirects
    .filter(({ operator, target }) => {
      if (!operator.includes(">")) return false;
      return !(operator.endsWith("&") && /^(?:\d+-?|-)$/.test(target.text));
    })
    .map(({ operator, target }) => write(`redirection ${operator.replace(/^\d+/, "")}`, literal(target)));
}

function changeFolder(folder: string | null, words: readonly Word[]): string | null {
  if (words[0]?.text !== "cd" && words[0]?.text !== "pushd") return folder;
  const target = literal(words.find((word, i) => i > 0 && !word.text.startsWith("-")));
  return target === null ? null : inFolder(folder, target);
}

function inFolder(folder: string | null, path: string | null): string | null {
  if (path === null || path.startsWith("/") || path.startsWith("~")) return path;
  if (folder === null) return null;
  return folder === "" ? path : `${folder}/${path}`;
}
