// Lines of shell in the project's own settings that a command runs: a target of make, a script of npm. They are the base's,
// so what they expect can be altered as in any script.
import { posix } from "node:path";
import type { TreeView } from "../runners/runner.js";
import { shellCommands } from "./languages/shell-words.js";

export interface LedLines {
  /** The settings file. */
  readonly path: string;
  /** What a shell reads. */
  readonly text: string;
  /** The settings with other lines; null when these cannot stand there. */
  readonly write: (lines: string) => string | null;
}

/** Null where a command is more than one call of make or of a package manager, or where nobody can tell what that runs. */
export function ledLines(command: string, view: TreeView, folder = "", depth = 0): LedLines | null {
  if (command.length > MOST_LINE) return null;
  const all = shellCommands(command.trim());
  const [last, goes, ...others] = [...all].reverse();
  if (last === undefined || others.length > 0 || last.negated || last.operator !== "\n") return null;
  const words = last.words.map(({ text }) => text);
  const [cd = "cd", to = "", ...more] = goes?.words.map(({ text }) => text) ?? [];
  if (cd !== "cd" || more.length > 0 || (goes !== undefined && goes.operator !== "&&")) return null;
  if ([...words, to].some((word) => /["'`$\\*?<>]/.test(word))) return null;
  const place = posix.join(folder, to);
  const found = /^g?make$/.test(words[0]!) ? ofMake(words.slice(1), place, view) : ofScripts(words, place, view);
  if (found === null || depth > MOST_STEPS) return found;
  return ledLines(found.text, view, posix.dirname(found.path), depth + 1) ?? found;
}

/** `npm test` that runs `npm run unit` that runs `make unit`. */
const MOST_STEPS = 3;

const SCRIPT_CALL =
  /^(?:npm|pnpm|yarn|bun)(?: -\S+)*(?: (?:run|run-script)(?: -\S+)* ([\w:.-]+)| (test|t)| (?!test\b|t\b|run\b|exec\b|dlx\b|x\b|i\b|install\b|ci\b|add\b)([\w:.-]+))(?: -\S+)*$/;

/** How each of them is told another folder. */
const FOLDER = / (?:--prefix|--cwd|--dir|-C)(?:=| )([\w./-]+)/;

function ofScripts(words: readonly string[], from: string, view: TreeView): LedLines | null {
  const line = words.join(" ");
  const place = posix.join(from, FOLDER.exec(line)?.[1] ?? "");
  const [, run, test, other] = SCRIPT_CALL.exec(line.replace(FOLDER, "")) ?? [];
  const name = run ?? (test === undefined ? other : "test");
  // `bun test` is bun's own runner.
  if (name === undefined || (words[0] === "bun" && test !== undefined)) return null;
  const path = posix.join(place, "package.json");
  const settings = parsed(view.read(path));
  const text = settings?.scripts?.[name];
  if (typeof text !== "string") return null;
  const write = (lines: string) =>
    JSON.stringify({ ...settings, scripts: { ...settings!.scripts, [name]: lines } }, null, 2);
  return { path, text, write };
}

function parsed(text: string | null): { readonly scripts?: Readonly<Record<string, unknown>> } | null {
  try {
    const settings: unknown = JSON.parse(text ?? "null");
    return typeof settings === "object" && !Array.isArray(settings) ? settings : null;
  } catch {
    return null;
  }
}

const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

function ofMake(words: readonly string[], from: string, view: TreeView): LedLines | null {
  const folder = posix.join(from, given(words, "-C") ?? "");
  const named = given(words, "-f");
  const path = (named === undefined ? MAKEFILES : [named])
    .map((name) => posix.join(folder, name))
    .find((one) => view.read(one) !== null);
  if (path === undefined || path.startsWith("..")) return null;
  const asked = words.filter(
    (word, at) => !/^-|=|^[0-9]+$/.test(word) && words[at - 1] !== "-C" && words[at - 1] !== "-f",
  );
  return linesOf(path, view.read(path)!, asked);
}

/** `-C sub`, `-Csub`. */
function given(words: readonly string[], flag: string): string | undefined {
  const at = words.findIndex((word) => word.startsWith(flag));
  if (at < 0) return undefined;
  return words[at] === flag ? words[at + 1] : words[at]!.slice(flag.length);
}

interface Rule {
  readonly targets: readonly string[];
  readonly needs: readonly string[];
  /** Which lines of the file are its own. */
  readonly lines: number[];
}

const RULE = /^([^\t#:=][^:=]*)::?(?![:=])([^=;#]*)(?:#.*)?$/;

/** Longer ones were not written by a person. */
const [MOST_TEXT, MOST_LINE] = [256 * 1024, 2_000];

function linesOf(path: string, text: string, asked: readonly string[]): LedLines | null {
  if (text.length > MOST_TEXT || /^[ \t]*(?:\.RECIPEPREFIX|define\b)/m.test(text)) return null;
  const all = text.split("\n");
  const rules = rulesOf(all);
  const wanted = reached(rules, asked);
  // Where make goes on after a failure, nothing is expected.
  const own = wanted.flatMap(({ lines }) => lines).filter((at) => !/^\t[@+\s]*-/.test(all[at]!));
  const kept: string[] = [];
  const shell = own.map((at) => asShell(all[at]!, kept));
  if (shell.length === 0 || shell.includes(null)) return null;
  const write = (lines: string) => {
    const changed = lines.split("\n");
    if (changed.length !== own.length) return null;
    const next = [...all];
    own.forEach((at, index) => {
      next[at] = `${/^\t[@+\s]*/.exec(all[at]!)![0]}${asMake(changed[index]!, kept)}`;
    });
    return next.join("\n");
  };
  return { path, text: shell.join("\n"), write };
}

function rulesOf(lines: readonly string[]): Rule[] {
  const rules: Rule[] = [];
  let isOpen = false;
  lines.forEach((line, at) => {
    const goesOn = at > 0 && /\\$/.test(lines[at - 1]!);
    if (line.startsWith("\t")) {
      if (isOpen) rules.at(-1)!.lines.push(at);
      return;
    }
    const [, targets, needs] = goesOn || line.length > MOST_LINE ? [] : (RULE.exec(line) ?? []);
    if (targets !== undefined) rules.push({ targets: split(targets), needs: split(needs!), lines: [] });
    // An empty line or a comment ends no rule.
    if (targets !== undefined || !/^\s*(?:#|$)|^(?:if|else|endif)/.test(line)) isOpen = targets !== undefined;
  });
  return rules;
}

const split = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

/** The rules of what is asked for and of what that needs. */
function reached(rules: readonly Rule[], asked: readonly string[]): Rule[] {
  const first = rules.flatMap(({ targets }) => targets).find((name) => !name.startsWith("."));
  const byTarget = new Map<string, Rule[]>();
  for (const rule of rules) {
    for (const name of rule.targets) {
      const known = byTarget.get(name);
      if (known === undefined) byTarget.set(name, [rule]);
      else known.push(rule);
    }
  }
  const names = new Set(asked.length > 0 ? asked : [first ?? ""]);
  // What is added while it is gone through is gone through, too.
  for (const name of names) {
    for (const { needs } of byTarget.get(name) ?? []) for (const need of needs) names.add(need);
  }
  return rules.filter(({ targets }) => targets.some((name) => names.has(name)));
}

/** Marks that no file has, around what make itself puts in. */
const [OPENS, CLOSES] = ["\uE000", "\uE001"];

/** null where make computes more than a name stands for. */
function asShell(line: string, kept: string[]): string | null {
  const shell = line.replace(/^\t[@+\s]*/, "").replace(/\$(?:\$|[({][\w.-]+[)}]|[@<^*?+])/g, (found) => {
    if (found === "$$") return "$";
    kept.push(found);
    return `${OPENS}${kept.length - 1}${BUILDS.exec(found)?.[0] ?? ""}${CLOSES}`;
  });
  const left = line.replace(/\$(?:\$|[({][\w.-]+[)}]|[@<^*?+])/g, "");
  return left.includes("$") ? null : shell;
}

/** Programs that build and test nothing. */
const BUILDS = /\b(?:CC|CXX|CPP|LD|AR|RM|INSTALL|MKDIR)\b/;

/** Whether a command is what make puts in, so that nobody can say what it does. */
export const isHiddenProgram = (word: string): boolean => /^\uE000\d+\uE001/.test(word);

const asMake = (line: string, kept: readonly string[]): string =>
  line.replaceAll("$", "$$$$").replace(/\uE000(\d+)[A-Z]*\uE001/g, (_, index: string) => kept[Number(index)]!);
