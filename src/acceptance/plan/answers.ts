// Files that hold the answer a check waits for: `[ "$(sh total.sh 1 2)" = "$(cat want.txt)" ]`. A check names many files, and
// most are the work; one is an answer when what it holds is compared with what the work says. Pure.
import { posix } from "node:path";

export interface AnswerFacts {
  readonly path: string;
  /** What the file holds on the base. */
  readonly text: string;
  /** Names of files of code that are the work, as far as the base has them. */
  readonly code: readonly string[];
  /** Names of the request's own tests. */
  readonly ownNames: ReadonlySet<string>;
}

/** Texts longer than this are no tests that somebody wrote. */
const LIMIT = 50_000;

/** Documents are written for people, and a version belongs to the code that says it. */
const FOR_PEOPLE = /^(?:readme|changelog|history|usage|license|version)\b/i;

/** A check's text, looked through once for all the files it may speak of. */
export interface ReadCheck {
  readonly whole: string;
  /** Where something is compared. */
  readonly spots: readonly string[];
  /** Every name that is given, with what it is made of. */
  readonly made: readonly (readonly [name: string, value: string])[];
}

export function readCheck(check: string): ReadCheck {
  const whole = readable(check);
  return { whole, spots: spotsOf(whole), made: made(whole).slice(0, MOST_NAMES) };
}

/** Whether a check compares what a file holds with what the work says. */
export function isComparedAnswer(check: ReadCheck, { path, text, code, ownNames }: AnswerFacts): boolean {
  const { whole, spots } = check;
  const name = posix.basename(path);
  const file = [name, ...patternsFor(whole, name)];
  if (FOR_PEOPLE.test(name) || !mention(file).test(whole)) return false;
  const work = workNamed(whole, name, code, ownNames);
  if (work.length === 0) return false;
  // What the work is handed may be what it changes, and what the check writes it must be able to write.
  if (isHandedTo(whole, work, file) || isWritten(whole, file)) return false;
  const ofFile = mention([...carriers(check, file, sourcedNames(whole, file, text))]);
  const ofWork = mention([...carriers(check, work, written(whole, work))]);
  return spots.some((spot) => ofFile.test(spot) && (ofWork.test(spot) || CHECKSUMS.test(spot)));
}

/** A longer line was not written by a person. */
const LINE_LIMIT = 1_000;

/** Lines that somebody wrote, those that go on put together. Blanks are one each: no pattern below has to try them all. */
const readable = (check: string): string =>
  check
    .slice(0, LIMIT)
    .replace(/\\\n/g, " ")
    .replace(/[^\S\n]+/g, " ")
    .split("\n")
    .filter((line) => line.length < LINE_LIMIT && line.trim() !== "")
    .join("\n");

/** `caf*.txt`, where that is a name of the file. */
const patternsFor = (text: string, name: string): string[] =>
  patternsIn([text])
    .filter(({ fits }) => fits.test(name))
    .map(({ word }) => word);

/** A pattern with many stars takes long to try, and nobody writes one. */
const PATTERN =
  /(?<![\p{L}\p{N}_.*-])[\p{L}\p{N}_.-]{0,60}\*[\p{L}\p{N}_.-]{1,60}(?:\*[\p{L}\p{N}_.-]{1,60})?(?![\p{L}\p{N}_.*-])/gu;
const MOST_PATTERNS = 100;
const MOST_NAMES = 1_000;

/** Patterns of names that some texts speak of; one without a letter before its ending fits everything, and says nothing. */
export function patternsIn(texts: readonly string[]): { readonly word: string; readonly fits: RegExp }[] {
  const words = texts.flatMap((text) => text.slice(0, LIMIT).match(PATTERN) ?? []);
  return [...new Set(words)]
    .filter((word) => /[\p{L}\p{N}]/u.test(word.replace(/\..*$/, "")))
    .slice(0, MOST_PATTERNS)
    .map((word) => ({ word, fits: new RegExp(`^${word.split(/\*+/).map(escaped).join(".*")}$`, "u") }));
}

const CODE = /[\w./-]+\.(?:sh|bash|py|[cm]?[jt]sx?|rb|pl|php|go|rs|c|cc|cpp|java)\b/g;

/** Code that a check names and that is none of the tests. */
function workNamed(check: string, answer: string, code: readonly string[], ownNames: ReadonlySet<string>): string[] {
  const isOwn = (path: string) => /(?:^|\/)tests?\//.test(path) || ownNames.has(posix.basename(path));
  const named = (check.match(CODE) ?? []).filter((path) => !isOwn(path)).map((path) => posix.basename(path));
  const built = code.filter(
    (name) =>
      check.includes(name) && new RegExp(`(?:[./]\\/|-m\\s+|from\\s+|import\\s+)${escaped(name)}\\b`).test(check),
  );
  return [...new Set([...named, ...built])].filter((name) => name !== answer);
}

/** Lines that compare, each with the lines its brackets go on to. */
function spotsOf(check: string): string[] {
  const lines = check.split("\n");
  return lines.flatMap((line, at) => {
    if (!COMPARES.test(line)) return [];
    let spot = line;
    for (let next = at + 1; next < lines.length && next < at + 10 && isOpen(spot); next += 1) spot += ` ${lines[next]}`;
    return commandsIn(spot).filter((part) => COMPARES.test(part));
  });
}

/** What `;`, `&&` and `||` part, outside of quotes. */
const commandsIn = (line: string): string[] => line.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|(?!&&|\|\||;)[\s\S])+/g) ?? [];

const COMPARES =
  /\[\[?\s.*(?:=|-eq|-ne)|\btest\s.*(?:=|-eq|-ne)\s|[!=]==?|\b(?:diff|cmp|comm|awk)\b|\bassert|\bexpect\b|\b(?:is|eq|ok|equals?|same)\w*\s*\(|sum\b.*\s(?:-c|--check)\b|grep\b.*\s(?:-[a-zA-Z]*f\b|--file)/;
const CHECKSUMS = /sum\b.*\s(?:-c|--check)\b/;

const isOpen = (text: string): boolean => (text.match(/[([{]/g) ?? []).length > (text.match(/[)\]}]/g) ?? []).length;

/** Names by which a check speaks of some files: their own, and those of variables and functions that were made of them. */
function carriers({ made }: ReadCheck, files: readonly string[], more: readonly string[]): ReadonlySet<string> {
  const names = new Set([...files, ...more]);
  for (let round = 0; round < 6; round += 1) {
    const known = mention([...names]);
    const more = made.filter(([name, value]) => !names.has(name) && known.test(value));
    if (more.length === 0) break;
    for (const [name] of more) names.add(name);
  }
  return names;
}

/** Every name that a text gives, with what it is made of. */
function made(check: string): [string, string][] {
  const pairs: [string, string][] = [];
  const all = (pattern: RegExp, take: (found: RegExpMatchArray) => [string, string][]) => {
    for (const found of check.matchAll(pattern)) pairs.push(...take(found));
  };
  all(/\b([A-Za-z_]\w*)\s*=(?!=)\s*([^\n;]*(?:\([^)]*\))?)/g, ([, name, value]) => [[name!, value!]]);
  all(/([^\n]*)\)\s*as\s+(\w+)/g, ([, value, name]) => [[name!, value!]]);
  all(/\bfor\s*\(?(?:const|let|var)?\s*[[({]?([\w\s,]{1,100}?)[\])}]?\s+(?:in|of)\s+([^\n;]*)/g, ([, list, value]) =>
    namesIn(list!).map((name) => [name, value!]),
  );
  all(/\bimport\s+([^"'\n]+?)\s+from\s+(["'][^"'\n]+["'])/g, ([, list, value]) =>
    namesIn(list!).map((name) => [name, value!]),
  );
  all(/\b(?:const|let|var)\s+\{([^}]{0,300})\}\s*=\s*([^\n;]*)/g, ([, list, value]) =>
    namesIn(list!).map((name) => [name, value!]),
  );
  all(/\bfrom\s+([\w.]+)\s+import\s+([^\n]+)/g, ([, value, list]) => namesIn(list!).map((name) => [name, value!]));
  // A function is made of the few lines it has.
  all(/\b(?:def|function)\s+(\w+)([^\n]*(?:\n[ \t]+[^\n]*){0,12})/g, ([, name, value]) => [[name!, value!]]);
  all(/^\s*(\w+)\s*\(\)\s*\{([^\n]*(?:\n[ \t]+[^\n]*){0,12})/gm, ([, name, value]) => [[name!, value!]]);
  // `while read -r question answer; do …; done < cases.txt`, and the same behind a pipe.
  const reads = [...check.matchAll(/\bread\s+((?:-\w+\s+)*)([\w\s]+?)\s*(?:;|\n|do\b)/g)].flatMap(([, , list]) =>
    namesIn(list!),
  );
  const sources = [...check.matchAll(/\bdone\s*<\s*([^\n;]+)|([^\n;|]+)\|\s*while\b/g)].map(([found]) => found);
  for (const name of reads.slice(0, 20)) for (const value of sources.slice(0, 20)) pairs.push([name, value]);
  return pairs;
}

const namesIn = (list: string): string[] => list.match(/[A-Za-z_]\w*/g)?.filter((name) => name !== "as") ?? [];

/** Names that a file gives values to, where a text sources it. */
function sourcedNames(check: string, files: readonly string[], text: string): string[] {
  const sourced = new RegExp(
    `(?:^|[;&|(\\s])(?:\\.|source)\\s+["']?[\\w./$-]*(?:${files.map(escaped).join("|")})`,
    "m",
  );
  return sourced.test(check) ? [...text.matchAll(/^\s*(?:export\s+)?(\w+)=/gm)].map(([, name]) => name!) : [];
}

/** Names of files into which a line writes what some program says. */
const written = (check: string, programs: readonly string[]): string[] =>
  check
    .split("\n")
    .filter((line) => mention(programs).test(line))
    .flatMap((line) =>
      [...line.matchAll(/(?:>|\btee\s)\s*["']?([^\s"';&|()<>]+)/g)].map(([, file]) => posix.basename(file!)),
    );

const isWritten = (check: string, files: readonly string[]): boolean =>
  new RegExp(
    `(?:>|\\btee\\s|\\bcp\\s[^\\n;&|]*\\s|\\bmv\\s[^\\n;&|]*\\s)\\s*["']?[^\\s"';&|()]*${anyOf(files)}`,
    "u",
  ).test(check) ||
  new RegExp(`${anyOf(files)}["']\\s*,\\s*["'][wa]|write\\w*\\([^\\n]*${anyOf(files)}`, "u").test(check);

/** `sh sort.sh list.txt`: the work is told the file's name. */
const isHandedTo = (check: string, work: readonly string[], files: readonly string[]): boolean =>
  new RegExp(`${anyOf(work)}[^|;&\\n()=>]*${anyOf(files)}`, "u").test(check);

const mention = (names: readonly string[]): RegExp => new RegExp(anyOf(names), "u");

const anyOf = (names: readonly string[]): string =>
  `(?<![\\p{L}\\p{N}_])(?:${names.map(escaped).join("|")})(?![\\p{L}\\p{N}_])`;

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** A file of code that gives values to names and does nothing else. */
export const givesValuesOnly = (text: string): boolean =>
  text.length < LIMIT &&
  text
    .split("\n")
    .every((line) => /^\s*(?:(?:#|\/\/).*|(?:export\s+)?(?:const\s+|let\s+|readonly\s+)?\w+\s*=[^()`$]*)?$/.test(line));
