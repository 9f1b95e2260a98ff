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
const LIMIT = 200_000;

/** Documents are written for people, and a version belongs to the code that says it. */
const FOR_PEOPLE = /^(?:readme|changelog|history|usage|license|version)\b/i;

/** Whether a check compares what a file holds with what the work says. */
export function isComparedAnswer(check: string, { path, text, code, ownNames }: AnswerFacts): boolean {
  const name = posix.basename(path);
  const whole = readable(check);
  const file = [name, ...patternsFor(whole, name)];
  if (FOR_PEOPLE.test(name) || !speaksOf(whole, file)) return false;
  const work = workNamed(whole, name, code, ownNames);
  if (work.length === 0) return false;
  // What the work is handed may be what it changes, and what the check writes it must be able to write.
  if (isHandedTo(whole, work, file) || isWritten(whole, file)) return false;
  const spots = spotsOf(whole);
  const [ofFile, ofWork] = [
    carriers(whole, file, sourcedNames(whole, file, text)),
    carriers(whole, work, written(whole, work)),
  ];
  return spots.some((spot) => speaksOf(spot, ofFile) && (speaksOf(spot, ofWork) || CHECKSUMS.test(spot)));
}

/** Lines that somebody wrote, those that go on put together. */
const readable = (check: string): string =>
  check
    .slice(0, LIMIT)
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.length < 2000)
    .join("\n");

/** `caf*.txt`, where that is a name of the file. */
const patternsFor = (text: string, name: string): string[] =>
  patternsIn([text])
    .filter(({ fits }) => fits.test(name))
    .map(({ word }) => word);

/** Patterns of names that some texts speak of; one without a letter before its ending fits everything, and says nothing. */
export function patternsIn(texts: readonly string[]): { readonly word: string; readonly fits: RegExp }[] {
  const words = texts.flatMap((text) => text.slice(0, LIMIT).match(/[\p{L}\p{N}_.-]*\*[\p{L}\p{N}_.*-]+/gu) ?? []);
  return [...new Set(words)]
    .filter((word) => /[\p{L}\p{N}]/u.test(word.replace(/\..*$/, "")))
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

/** Names by which a text speaks of some files: their own, and those of variables and functions that were made of them. */
function carriers(check: string, files: readonly string[], more: readonly string[]): ReadonlySet<string> {
  const names = new Set([...files, ...more]);
  for (let round = 0; round < 4; round += 1) {
    const before = names.size;
    for (const [name, value] of made(check)) if (speaksOf(value, names)) names.add(name);
    if (names.size === before) break;
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
  all(/\bfor\s*\(?(?:const|let|var)?\s*[[({]?([\w\s,]+?)[\])}]?\s+(?:in|of)\s+([^\n;]*)/g, ([, list, value]) =>
    namesIn(list!).map((name) => [name, value!]),
  );
  all(/\bimport\s+([^"'\n]+?)\s+from\s+(["'][^"'\n]+["'])/g, ([, list, value]) =>
    namesIn(list!).map((name) => [name, value!]),
  );
  all(/\b(?:const|let|var)\s+\{([^}]*)\}\s*=\s*([^\n;]*)/g, ([, list, value]) =>
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
  for (const name of reads) for (const value of sources) pairs.push([name, value]);
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

const speaksOf = (text: string, names: Iterable<string>): boolean => mention([...names]).test(text);

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
