// Programs that wait for commands of their own. Where a host lets a model type into them later and asks no gate about it
// (Codex's write_stdin), starting one is the last thing that can be decided.
import { rowOf, SHELLS } from "./shell-programs.js";
import type { StartedProgram } from "./shell-writes.js";

/** Without a script they read one from whoever types. */
const INTERPRETERS =
  /^(?:python[\d.]*|pypy3?|node|nodejs|deno|bun|tsx|perl[\d.]*|ruby[\d.]*|irb|php[\d.]*|lua[\d.]*|tclsh|expect|jshell|ghci|R)$/;

/** Whatever they are given, they take commands, and one of them starts a shell or writes a file. */
const ALWAYS = /^(?:vi|vim|nvim|view|nano|emacs|ed|ex|tmux|screen|script|gdb|lldb|ftp|sftp|ipython[\d.]*)$/;

/** Clients of databases: their commands write files and start shells, too. */
const CLIENTS: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  psql: (words) => words.some((word) => /^-(?:[a-zA-Z]*[cfl]|-(?:command|file|list)\b)/.test(word)),
  mysql: (words) => words.some((word) => /^-(?:e|-execute\b)/.test(word)),
  sqlite3: (words) => words.filter((word) => !word.startsWith("-")).length > 1,
};

/** Options after which no script follows: `python3 -i`, `bash -i`. */
const STAYS = /^-(?:[a-zA-Z]*i|-interactive|-)?$/;

export function takesCommands({ name, args, fed }: StartedProgram): boolean {
  if (ALWAYS.test(name)) return true;
  const words = args.map(({ text }) => text);
  const isGivenAll = rowOf(CLIENTS, name);
  if (isGivenAll !== undefined) return !fed && !isGivenAll(words);
  if (!SHELLS.has(name) && !INTERPRETERS.test(name)) return false;
  if (words.some((word) => word !== "-" && STAYS.test(word))) return true;
  // What a pipe or a here-document delivers is read as any text is.
  if (fed || (!SHELLS.has(name) && words.includes("-v"))) return false;
  return words.every((word) => word === "-" || (word.startsWith("-") && !GIVES_TEXT.test(word)));
}

/** Options that bring the text to run, or only say something. */
const GIVES_TEXT = /^-(?:[a-zA-Z]*[cemprEV]|-(?:eval|print|version|help|check|test)\b.*)$/;
