// Which shell commands write files, as far as a reader can honestly tell. What it cannot see (a script that writes, a build
// that leaves files) is the sandbox's and the tree comparison's work; what it cannot read counts as writing.

import { interpreterWrites } from "./shell-interpreters.js";
import { echoedText, literal, parseShell, type SimpleCommand, type Word } from "./shell-parse.js";
import { PROGRAMS, SHELLS, type ShellWrite, unwrap } from "./shell-programs.js";

export type { ShellWrite };

const MAX_DEPTH = 8;

export function shellWrites(command: string): ShellWrite[] {
  return judge(command, 0);
}

function judge(source: string, depth: number): ShellWrite[] {
  if (depth > MAX_DEPTH) return [{ how: "a command nested too deep to read", kind: "direct", path: null }];
  const { commands, nested, complete } = parseShell(source);
  const found: ShellWrite[] = [];
  if (!complete) found.push({ how: "a command whose quotes do not close", kind: "direct", path: null });
  let folder: string | null = "";
  commands.forEach((command, i) => {
    const writes = [...redirections(command), ...programWrites(command, commands[i - 1], depth)];
    found.push(...writes.map((write) => ({ ...write, path: inFolder(folder, write.path) })));
    folder = changeFolder(folder, command.words);
  });
  for (const inner of nested) found.push(...judge(inner, depth + 1));
  return found;
}

function redirections({ redirects }: SimpleCommand): ShellWrite[] {
  return redirects
    .filter(({ operator, target }) => {
      if (!operator.includes(">")) return false;
      return !(operator.endsWith("&") && /^(?:\d+-?|-)$/.test(target.text));
    })
    .map(({ operator, target }) => ({
      how: `redirection ${operator.replace(/^\d+/, "")}`,
      kind: "direct" as const,
      path: literal(target),
    }));
}

function programWrites(command: SimpleCommand, before: SimpleCommand | undefined, depth: number): ShellWrite[] {
  const words = unwrap(command.words);
  if (words === "unreadable") return [{ how: "a program name that is computed", kind: "direct", path: null }];
  const [program, ...args] = words;
  if (program === undefined) return [];
  const name = program.text.replace(/^.*\//, "");
  if (SHELLS.has(name) || name === "eval" || name === "source" || name === ".")
    return shellText(name, args, command, before, depth);
  if (name === "trap" || name === "alias")
    return args.flatMap(({ text }) => judge(text.replace(/^\w+=/, ""), depth + 1));
  if (name === "find" || name === "fd") return findWrites(args, depth);
  if (name === "xargs" || name === "parallel") return argumentRunner(args, depth);
  const interpreted = interpreterWrites(name, args, command, command.piped ? (before ?? null) : null);
  if (interpreted !== null) return interpreted;
  return PROGRAMS[name]?.(args) ?? [];
}

/** Text run by a shell: `bash -c`, `eval`, a here-document, or whatever a pipe delivers. */
function shellText(
  name: string,
  args: readonly Word[],
  command: SimpleCommand,
  before: SimpleCommand | undefined,
  depth: number,
): ShellWrite[] {
  if (name === "eval") {
    if (args.some(({ dynamic }) => dynamic)) return [{ how: "eval of computed text", kind: "direct", path: null }];
    return judge(args.map(({ text }) => text).join(" "), depth + 1);
  }
  const at = args.findIndex(({ text }) => /^-[a-z]*c$/.test(text));
  if (at >= 0) {
    const text = args[at + 1];
    if (text === undefined || text.dynamic)
      return [{ how: `${name} -c with computed text`, kind: "direct", path: null }];
    return judge(text.text, depth + 1);
  }
  if (command.input !== null) return judge(command.input, depth + 1);
  if (args.some(({ text, dynamic }) => dynamic && text === ""))
    return [{ how: `${name} of a substitution`, kind: "direct", path: null }];
  if (command.piped && args.every(({ text }) => text.startsWith("-"))) {
    const echoed = before === undefined ? null : echoedText(before);
    return echoed === null
      ? [{ how: `text piped into ${name}`, kind: "direct", path: null }]
      : judge(echoed, depth + 1);
  }
  return [];
}

function findWrites(args: readonly Word[], depth: number): ShellWrite[] {
  const found: ShellWrite[] = [];
  args.forEach(({ text }, i) => {
    if (text === "-delete") found.push({ how: "find -delete", kind: "direct", path: null });
    if (/^-f(?:print0?|printf|ls)$/.test(text))
      found.push({ how: `find ${text}`, kind: "direct", path: literal(args[i + 1]) });
    if (/^(?:-(?:exec|execdir|ok|okdir)|-[xX]|--exec(?:-batch)?)$/.test(text)) {
      const end = args.findIndex((word, j) => j > i && (word.text === ";" || word.text === "+"));
      found.push(...argumentRunner(args.slice(i + 1, end < 0 ? undefined : end), depth));
    }
  });
  return found;
}

/** A program whose arguments are supplied at run time: any write it makes has an unknown target. */
function argumentRunner(args: readonly Word[], depth: number): ShellWrite[] {
  const start = args.findIndex(
    ({ text }, i) => !text.startsWith("-") && !/^-(?:[InPLsdEa]|-max-\w+)$/.test(args[i - 1]?.text ?? ""),
  );
  if (start < 0) return [];
  const words = [...args.slice(start), { text: "UNKNOWN", dynamic: true }];
  const command: SimpleCommand = { words, redirects: [], input: null, piped: false };
  return programWrites(command, undefined, depth + 1).map((write) => ({ ...write, path: null }));
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
