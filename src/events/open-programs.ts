// Programs that wait for commands of their own. Where a host lets a model type into them later and asks no gate about it
// (Codex's write_stdin), starting one is the last thing that can be decided.
import { rowOf, SHELLS } from "./shell-programs.js";
import type { StartedProgram } from "./shell-writes.js";

/** Without a script they read one from whoever types. */
const INTERPRETERS =
  /^(?:python[\d.]*|pypy3?|node|nodejs|deno|bun|tsx|ts-node|perl[\d.]*|ruby[\d.]*|irb|php[\d.]*|lua[\d.]*|tclsh|wish|expect|jshell|groovysh|ghci|R|Rscript|julia|octave|gnuplot|scala|swift|ocaml|sbcl|clisp|guile|racket|erl|iex|elixir|osh|yash|dc|parallel)$/;

/** Whatever they are given, they take commands, and one of them starts a shell or writes a file. */
const ALWAYS =
  /^(?:vi|vim|nvim|view|nano|emacs|ed|ex|tmux|screen|script|gdb|lldb|ftp|sftp|lftp|telnet|ipython[\d.]*|less|more|most|man|mc|ranger|nnn|login|newgrp|runuser|rlwrap|nix-shell)$/;

/** Clients of databases: their commands write files and start shells, too. */
const CLIENTS: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  psql: (words) => words.some((word) => /^-(?:[a-zA-Z]*[cfl]|-(?:command|file|list)\b)/.test(word)),
  mysql: (words) => words.some((word) => /^-(?:e|-execute\b)/.test(word)),
  sqlite3: (words) => words.filter((word) => !word.startsWith("-")).length > 1,
};

/** Programs whose own commands, named by `-f`, may write: what is typed can be one. */
const TAKES_FILE = /^(?:g?make|ninja|[gm]?awk|sed)$/;
const TYPED = /^(?:-f|--(?:make)?file=?)?(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/;

/** Of a container or another machine, with somebody who types. */
const INSIDE = /^(?:docker|podman|nerdctl|kubectl)$/;

/** Options after which no script follows: `python3 -i`, `bash -i`. */
const STAYS = /^-(?:[a-zA-Z]*i|-interactive|-)?$/;

export function takesCommands({ name, args, fed }: StartedProgram): boolean {
  if (ALWAYS.test(name)) return true;
  const words = args.map(({ text }) => text);
  if (TAKES_FILE.test(name)) return !fed && words.some((word, i) => isTyped(words, word, i));
  if (INSIDE.test(name)) return words.some((word) => /^-(?:[a-zA-Z]*i[a-zA-Z]*|-interactive|-stdin)$/.test(word));
  if (/^(?:source|\.)$/.test(name)) return !fed && words.some((word) => TYPED.test(word));
  const isGivenAll = rowOf(CLIENTS, name);
  if (isGivenAll !== undefined) return !fed && !isGivenAll(words);
  if (!SHELLS.has(name) && !INTERPRETERS.test(name)) return false;
  if (words.some((word) => word !== "-" && STAYS.test(word))) return true;
  // What a pipe or a here-document delivers is read as any text is.
  if (fed || (!SHELLS.has(name) && words.includes("-v"))) return false;
  if (words[0] === "repl" || (/^perl/.test(name) && words.some((word) => /^-[a-z]*d/.test(word)))) return true;
  return words.every((word) => TYPED.test(word) || (word.startsWith("-") && !GIVES_TEXT.test(word)));
}

/** `-f -`, `-f/dev/stdin`, `--file=-`. */
const isTyped = (words: readonly string[], word: string, i: number): boolean =>
  TYPED.test(word) && (/^-(?:f|-)./.test(word) || /^-(?:[a-zA-Z]*f|-(?:make)?file)$/.test(words[i - 1] ?? ""));

/** Options that bring the text to run, or only say something. */
const GIVES_TEXT = /^-(?:[a-zA-Z]*[cemprEV]|-(?:eval|print|version|help|check|test)\b.*)$/;
