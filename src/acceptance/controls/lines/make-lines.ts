// The lines of shell that a call of make runs, where its Makefile is plain enough to be sure of all of them: null for
// whatever computes, includes, chooses or asks another shell. Pure, but for the view.
import { posix } from "node:path";
import type { TreeView } from "../../runners/runner.js";
import type { Line } from "./led-lines.js";

const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

/** Larger ones were not written by a person. */
const MOST_TEXT = 64 * 1024;
const MOST_RULES = 300;
const MOST_NAMES = 5_000;

/** `words` is the call without its first word. */
export function makeLines(words: readonly string[], from: string, view: TreeView): Line[] | null {
  const call = readCall(words);
  if (call === null) return null;
  const folder = posix.join(from, call.folder);
  const path = (call.file === undefined ? MAKEFILES : [call.file])
    .map((name) => posix.join(folder, name))
    .find((each) => view.exists(each));
  const text = path === undefined || view.isGuarded?.(path) !== true ? null : view.read(path);
  if (text === null || text.length > MOST_TEXT || text.includes("\r")) return null;
  const made = readMakefile(text, { folder, view });
  return made === null ? null : new Walk(made, { path: path!, folder, view, text }).lines(call.targets);
}

interface Call {
  readonly folder: string;
  readonly file: string | undefined;
  readonly targets: readonly string[];
}

function readCall(words: readonly string[]): Call | null {
  let [folder, file]: [string, string | undefined] = ["", undefined];
  const targets: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const [, flag, attached] = /^(-C|-f|--directory=|--file=)(.*)$/.exec(word) ?? [];
    if (flag !== undefined) {
      if (attached === "") at += 1;
      const value = attached === "" ? words[at] : attached;
      if (value === undefined) return null;
      if (flag === "-C" || flag === "--directory=") folder = posix.join(folder, value);
      else file = value;
    } else if (/^[\w./-]+$/.test(word) && !word.startsWith("-")) targets.push(word);
    else if (!/^(?:-s|--silent|--quiet|-B|--always-make|--no-print-directory|-w|-j[0-9]*)$/.test(word)) return null;
  }
  return { folder, file, targets };
}

interface Recipe {
  /** Lines of the file, the last one included. */
  readonly from: number;
  readonly to: number;
}

interface Rule {
  readonly target: string;
  readonly needs: readonly string[];
  readonly recipes: Recipe[];
}

interface Made {
  /** What is made when nothing is asked for. */
  readonly goal: string | null;
  readonly expand: (text: string, own?: Readonly<Record<string, string>>) => string | null;
  readonly rules: readonly Rule[];
  readonly phony: ReadonlySet<string>;
}

interface Site {
  readonly folder: string;
  readonly view: TreeView;
}

const BUILT_IN: ReadonlyMap<string, string> = new Map([
  ["CC", "cc"],
  ["CXX", "g++"],
  ["RM", "rm -f"],
  ["MAKE", "make"],
  ...["CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "LOADLIBES", "TARGET_ARCH"].map(
    (name): [string, string] => [name, ""],
  ),
]);

const GOAL = ".DEFAULT_GOAL";

/** Names that say how lines are run. */
const STEERS = /^(?:MAKE\w*|GNUMAKEFLAGS|VPATH|PATH|ENV|BASH_ENV|IFS|LD_\w+|\..*)$/;
const ASSIGNS = /^(?:export +)?([\w.-]+) *(=|::?=|\?=|\+=) *(.*)$/;
const RULE = /^([^:=;|%&]+):(?![:=])([^:=;]*)$/;
const PATTERN = /^([\w./-]*%[\w./-]*) *: *([\w./%| -]*)$/;
/** Patterns lead further than anybody sees here, so theirs may only compile. */
const COMPILES = /^\t[@ ]*(?:\$[({](?:CC|CXX)[)}]|cc|gcc|clang|g\+\+|c\+\+|clang\+\+|mkdir -p|echo) /;
const SPECIAL = /^\.(?:PHONY|SILENT|DELETE_ON_ERROR|SUFFIXES|PRECIOUS|SECONDARY|INTERMEDIATE)$/;

function readMakefile(text: string, site: Site): Made | null {
  const all = text.split("\n");
  const values = new Map<string, string>();
  const drafts: { targets: string; needs: string; recipes: Recipe[] }[] = [];
  let isOpen = false;
  for (let at = 0; at < all.length; at += 1) {
    const from = at;
    while (/(?<!\\)(?:\\\\)*\\$/.test(all[at]!) && at + 1 < all.length) at += 1;
    const isRecipe = all[from]!.startsWith("\t");
    if (isRecipe && isOpen) {
      drafts.at(-1)!.recipes.push({ from, to: at });
      continue;
    }
    const line = all
      .slice(from, at + 1)
      .join(" ")
      .replace(/\\ /g, " ")
      .replace(/(?<!\\)#.*$/, "")
      .trim();
    if (line === "") continue;
    if (isRecipe) return null;
    const [, name, operator, value] = ASSIGNS.exec(line) ?? [];
    if (name !== undefined) {
      if (!assign(values, name, operator!, value!)) return null;
      isOpen = false;
      continue;
    }
    const [, targets, needs] = RULE.exec(line) ?? PATTERN.exec(line) ?? [];
    if (targets === undefined) return null;
    drafts.push({ targets, needs: needs!, recipes: [] });
    isOpen = true;
  }
  const expand = expander(values, site);
  const rules: Rule[] = [];
  const phony = new Set<string>();
  for (const { targets, needs, recipes } of drafts) {
    const [names, prerequisites] = [split(expand(targets)), split(expand(needs.replace("|", " ")))];
    if (names === null || names.length === 0) return null;
    if (names.some((name) => name.startsWith(".") && !name.startsWith("./"))) {
      if (!names.every((name) => SPECIAL.test(name)) || recipes.length > 0) return null;
      if (names.includes(".PHONY")) for (const each of prerequisites ?? []) phony.add(each);
      continue;
    }
    if (prerequisites === null || (names.length > 1 && recipes.length > 0)) return null;
    if (targets.includes("%") && !recipes.every(({ from }) => COMPILES.test(all[from]!))) return null;
    for (const target of names) rules.push({ target, needs: prerequisites, recipes });
  }
  if (rules.length > MOST_RULES) return null;
  const goal = values.get(GOAL) ?? rules.find(({ target }) => !target.includes("%"))?.target;
  return { goal: goal === undefined ? null : expand(goal), expand, rules, phony };
}

const split = (text: string | null): string[] | null =>
  text === null ? null : text.split(/\s+/).filter((word) => word !== "");

/** false where a name says how lines are run, or is given twice. */
function assign(values: Map<string, string>, name: string, operator: string, value: string): boolean {
  if (name === "SHELL") return /^(?:\/usr)?(?:\/bin\/)?(?:ba|da)?sh$/.test(value);
  if (STEERS.test(name) && name !== GOAL) return false;
  const before = values.get(name);
  if (operator === "?=") {
    if (before === undefined && !BUILT_IN.has(name)) values.set(name, value);
    return true;
  }
  if (operator === "+=") {
    values.set(name, `${before ?? BUILT_IN.get(name) ?? ""} ${value}`.trim());
    return true;
  }
  if (before !== undefined) return false;
  values.set(name, value);
  return true;
}

const DEPTH = 10;

/** Text as make hands it on; null where it would compute more than names, lists of files and their endings. */
function expander(values: ReadonlyMap<string, string>, { folder, view }: Site): Made["expand"] {
  let left = MOST_NAMES;
  const expand = (text: string, own: Readonly<Record<string, string>>, depth: number): string | null => {
    left -= 1;
    if (depth > DEPTH || left < 0 || text.length > MOST_TEXT) return null;
    let isKnown = true;
    const result = text.replace(
      /\$(?:\$|([@<^*])|\(([^()]*(?:\([^()]*\)[^()]*)*)\)|\{([\w.-]+)\})|\$/g,
      (found, automatic?: string, round?: string, curly?: string) => {
        if (found === "$$") return "$";
        const value = automatic !== undefined ? own[automatic] : named(round ?? curly, own, depth);
        if (value === undefined || value === null) isKnown = false;
        return value ?? "";
      },
    );
    return isKnown ? result : null;
  };
  const named = (inner: string | undefined, own: Readonly<Record<string, string>>, depth: number): string | null => {
    if (inner === undefined) return null;
    const [, name, ending, other] = /^([\w.-]+)(?::([\w.%/-]*)=([\w.%/-]*))?$/.exec(inner) ?? [];
    if (name !== undefined) {
      const value = values.get(name) ?? BUILT_IN.get(name);
      const whole = value === undefined ? null : expand(value, own, depth + 1);
      if (whole === null || ending === undefined) return whole;
      return substituted(
        whole,
        ending.includes("%") ? ending : `%${ending}`,
        other!.includes("%") ? other! : `%${other}`,
      );
    }
    const [, list] = /^wildcard +([\w./*-]+)$/.exec(inner) ?? [];
    if (list !== undefined) return matching(list, folder, view);
    const [, pattern, to, words] = /^patsubst +([\w.%/-]+), *([\w.%/-]+),(.*)$/.exec(inner) ?? [];
    const whole = words === undefined ? null : expand(words, own, depth + 1);
    return whole === null ? null : substituted(whole, pattern!, to!);
  };
  return (text, own = {}) => expand(text, own, 0);
}

function substituted(words: string, pattern: string, to: string): string {
  return words
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => {
      const stem = stemOf(word, pattern);
      return stem === null ? word : to.replace("%", stem);
    })
    .join(" ");
}

/** What stands for `%`; null where a name does not fit. */
function stemOf(name: string, pattern: string): string | null {
  const at = pattern.indexOf("%");
  const [head, tail] = [pattern.slice(0, at), pattern.slice(at + 1)];
  const fits = name.startsWith(head) && name.endsWith(tail) && name.length > head.length + tail.length;
  return fits ? name.slice(head.length, name.length - tail.length) : null;
}

/** What is there now; a file that a build makes could be there later. */
function matching(pattern: string, folder: string, view: TreeView): string | null {
  const [, place = "", head, tail] = /^([\w./-]*\/)?([\w.-]*)\*([\w.-]*)$/.exec(pattern) ?? [];
  if (tail === undefined) return null;
  const names = view.list(posix.join(folder, place).replace(/\/$|^\.$/, ""));
  return names
    .filter((name) => name.startsWith(head!) && name.endsWith(tail) && !name.startsWith(".") && !name.endsWith("/"))
    .map((name) => `${place}${name}`)
    .join(" ");
}

interface Source extends Site {
  readonly path: string;
  readonly text: string;
}

/** Targets and what they need, from the inside out. */
class Walk {
  readonly #made: Made;
  readonly #source: Source;
  readonly #seen = new Set<string>();
  readonly #lines: Line[] = [];

  constructor(made: Made, source: Source) {
    this.#made = made;
    this.#source = source;
  }

  lines(asked: readonly string[]): Line[] | null {
    const { goal } = this.#made;
    const targets = asked.length > 0 ? asked : goal === null ? [] : [goal];
    return targets.length > 0 && targets.every((target) => this.#reach(target)) ? this.#lines : null;
  }

  /** false where nobody can say how a target is made. */
  #reach(target: string): boolean {
    if (this.#seen.has(target)) return true;
    this.#seen.add(target);
    const own = this.#made.rules.filter((rule) => rule.target === target);
    const needs = own.flatMap((rule) => rule.needs);
    const [recipe, ...more] = own.filter(({ recipes }) => recipes.length > 0);
    if (more.length > 0 || !needs.every((need) => this.#reach(need))) return false;
    if (recipe !== undefined) return this.#run(recipe, { target, needs, stem: null });
    if (this.#made.phony.has(target)) return true;
    return this.#byPattern(target, needs) ?? (own.length > 0 ? this.#implied(target, needs) : this.#found(target));
  }

  /** null where no pattern fits. */
  #byPattern(target: string, needs: readonly string[]): boolean | null {
    for (const rule of this.#made.rules) {
      const stem = rule.target.includes("%") ? stemOf(target, rule.target) : null;
      if (stem === null) continue;
      const own = rule.needs.map((need) => need.replace("%", stem));
      if (!own.every((need) => this.#isThere(need) || this.#made.rules.some((other) => other.target === need)))
        continue;
      return own.every((need) => this.#reach(need)) && this.#run(rule, { target, needs: [...own, ...needs], stem });
    }
    return null;
  }

  #isThere(name: string): boolean {
    return this.#source.view.exists(posix.join(this.#source.folder, name));
  }

  #found(target: string): boolean {
    return this.#isThere(target) || this.#implied(target, []);
  }

  /** Make's own rules compile and link. A target with nothing to be made of groups others. */
  #implied(target: string, needs: readonly string[]): boolean {
    const stem = target.replace(/\.o$/, "");
    const from = [".c", ".cc", ".cpp", ".o"]
      .map((ending) => `${stem}${ending}`)
      .find((name) => name !== target && (needs.includes(name) || this.#isThere(name)));
    if (from === undefined) return needs.length > 0;
    const folder = this.#source.folder;
    this.#lines.push({ text: `cc -o ${target} ${from}`, folder, mayFail: false, where: target, alter: null });
    return true;
  }

  #run(
    { recipes }: Rule,
    { target, needs, stem }: { target: string; needs: readonly string[]; stem: string | null },
  ): boolean {
    const { path, folder, text } = this.#source;
    const all = text.split("\n");
    const own = { "@": target, "<": needs[0] ?? "", "^": [...new Set(needs)].join(" "), "*": stem ?? "" };
    for (const { from, to } of recipes) {
      // Make takes the mark of a recipe's line from each line that goes on.
      const raw = all.slice(from, to + 1).map((line) => line.replace(/^\t/, ""));
      const prefix = /^[ \t@+-]*/.exec(raw[0]!)![0];
      const shell = this.#made.expand(raw.join("\n").slice(prefix.length), own);
      if (shell === null || prefix.includes("+")) return false;
      if (shell.trim() === "" || shell.startsWith("#")) continue;
      const write = (altered: string) =>
        [...all.slice(0, from), `\t${prefix}${asMake(altered)}`, ...all.slice(to + 1)].join("\n");
      this.#lines.push({
        text: shell,
        folder,
        mayFail: prefix.includes("-"),
        where: `line ${from + 1} of ${path}`,
        // A pattern's line is run for others, too.
        alter: stem === null ? (altered) => ({ files: new Map([[path, write(altered)]]) }) : null,
      });
    }
    return true;
  }
}

const asMake = (text: string): string => text.replaceAll("$", "$$$$").replaceAll("\n", "\n\t");
