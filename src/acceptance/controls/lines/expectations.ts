// What a step of a line is there for: it expects something and can be altered, makes something that another step looks at,
// does what cannot matter, calls other lines, or decides by itself.
import { posix } from "node:path";
import type { TreeView } from "../../runners/runner.js";
import { alterWord, FLIPPED, isComputed } from "../languages/shell.js";
import type { Word } from "../languages/shell-words.js";
import type { Edit } from "../text/edit.js";
import { ALTERED } from "../text/marks.js";
import type { Loop, Simple, Step } from "./shell-line.js";

/** One way to alter an expectation: edits of its line, or a file that holds the answer. */
export interface Variant {
  readonly edits: readonly Edit[];
  readonly golden: string | null;
  /** How the line names that file, where it names one. */
  readonly word?: string;
}

export type Meaning =
  | { readonly kind: "nothing" }
  | { readonly kind: "goes to"; readonly folder: string }
  | { readonly kind: "calls"; readonly words: readonly string[] }
  /** Names of what it makes; without one, nothing but its status is left of it. */
  | { readonly kind: "makes"; readonly names: readonly string[]; readonly isVariable: boolean; readonly adds: boolean }
  /** `strong`: an answer is compared with what is computed, and silence would be a wrong one. */
  | { readonly kind: "expects"; readonly variants: readonly Variant[]; readonly strong: boolean }
  | { readonly kind: "decides" };

export interface Place {
  readonly view: TreeView;
  /** Where the step runs, from the tree's root. */
  readonly folder: string;
  /** Whether a name stood in a step before. */
  readonly isKnown: (name: string) => boolean;
}

const NOTHING: Meaning = { kind: "nothing" };
const DECIDES: Meaning = { kind: "decides" };

export function meaningOf(step: Step, place: Place): Meaning {
  const { pipeline, loop } = step;
  const last = pipeline.commands.at(-1)!;
  if (pipeline.commands.some(steers)) return DECIDES;
  const name = last.words[0]?.text ?? "";
  // What the command itself must answer.
  const wanted = step.failsWhen === pipeline.negated;
  const piped = pipeline.commands.length > 1;
  if (name === "test" || name === "[") return expects(last, wanted, { ...place, loop, piped });
  if (/^[ef]?grep$/.test(name)) return wanted ? searches(last, piped) : DECIDES;
  if (name === "diff" || name === "cmp") return wanted ? compares(last, { ...place, loop, piped }) : DECIDES;
  if (loop !== undefined || pipeline.negated || step.failsWhen) return DECIDES;
  if (piped) return makes(last, place);
  return alone(last, place);
}

/** Names that decide which programs are found, or what they do first; a status that is asked for decides by itself. */
const STEERS = /^(?:PATH|ENV|IFS|BASH_ENV|CDPATH|GREP_\w+|LD_\w+|MAKE\w*|npm_\w+|NODE_OPTIONS)=/i;

const steers = ({ given, words }: Simple): boolean =>
  given.some(({ text }) => STEERS.test(text)) || [...given, ...words].some(({ text }) => asksStatus(text));

/** `$?`, and words that are said only when a program ends well. */
function asksStatus(text: string): boolean {
  const computed = text.replace(/'[^']*'/g, "").replace(/(\$\(|`)\s*cd [\w./-]+ &&/g, "$1");
  if (/\$\{?\?/.test(computed)) return true;
  return /\$\(|`/.test(computed) && /&&|\|\||(?:^|[\s;(`])(?:if|while|until|case|exec|eval)\s/.test(computed);
}

/** The text of a word that no shell would read otherwise; null when it would. */
export function plain({ text }: Pick<Word, "text">): string | null {
  const inner = /^'([^']*)'$|^"([^"$`\\]*)"$/.exec(text);
  if (inner !== null) return inner[1] ?? inner[2]!;
  return /["'`$\\*?[\]{}~]/.test(text) ? null : text;
}

function alone(command: Simple, place: Place): Meaning {
  const { given, words, redirects } = command;
  if (words.length === 0) return assigns(given);
  const [name = "", ...rest] = words.map(plain);
  const all = rest.filter((word) => word !== null);
  const isPlain = all.length === rest.length;
  switch (name) {
    case "echo":
    case "printf":
    case ":":
    case "true":
      return NOTHING;
    case "set":
      return isPlain && all.length === 1 && /^-[eux]+$/.test(all[0]!) ? NOTHING : DECIDES;
    case "rm":
      return /^-[rR]?f[rR]?$/.test(all[0] ?? "") ? NOTHING : DECIDES;
    case "mkdir":
      return isPlain && all[0] === "-p" ? NOTHING : DECIDES;
    case "cd": {
      const folder = posix.join(place.folder, all[0] ?? "..");
      const isThere = isPlain && all.length === 1 && place.view.list(folder === "." ? "" : folder).length > 0;
      return isThere ? { kind: "goes to", folder } : DECIDES;
    }
    case "make":
    case "gmake":
    case "npm":
      return isPlain && given.every(({ text }) => TOLD.test(text)) && redirects.length === 0
        ? { kind: "calls", words: [name, ...all] }
        : DECIDES;
    default:
      return makes(command, place);
  }
}

/** What callers tell programs about where they run. */
const TOLD = /^(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR|LANG|LC_ALL|TZ)=[\w.:/-]*$/;

/** `out=$(…)` ends as what stands inside; a written value cannot fail. */
function assigns(given: readonly Word[]): Meaning {
  const computed = given.filter(({ text }) => /\$\(|`/.test(text));
  if (computed.length === 0) return NOTHING;
  return {
    kind: "makes",
    names: computed.map(({ text }) => text.slice(0, text.indexOf("="))),
    isVariable: true,
    adds: false,
  };
}

/** Compilers that run nothing of what they compile. */
const COMPILER = /^(?:cc|c99|gcc|clang|c\+\+|g\+\+|clang\+\+|rustc|go)$/;

/** Words after which a shell or another program does something nobody sees here. */
const UNFORESEEN = /^(?:exit|exec|eval|return|trap|alias|shift|unset|wait|kill|source|command|builtin|xargs|false|\.)$/;

function makes({ words, redirects }: Simple, { isKnown, folder, view }: Place): Meaning {
  const texts = words.map(plain);
  const name = texts[0] ?? null;
  if (name === null || UNFORESEEN.test(name)) return DECIDES;
  const compiled = COMPILER.test(name);
  if (compiled && (texts.includes(null) || (name === "go" && texts[1] !== "build"))) return DECIDES;
  const at = texts.indexOf("-o");
  if (compiled) return at < 0 || texts[at + 1] == null ? DECIDES : made([texts[at + 1]!]);
  const written = redirects
    .filter(({ operator }) => />/.test(operator) && !operator.includes("&"))
    .map(({ target }) => plain({ text: target }))
    .filter((target) => target !== null && !target.startsWith("/dev/"));
  // A name that nobody spoke of and that is not there yet is where it will write.
  const told = texts
    .slice(1)
    .filter((word) => word !== null && /^[\w./-]*[./][\w./-]*$/.test(word) && !word.startsWith("-"))
    .filter((word) => !isKnown(word!) && !view.exists(posix.join(folder, word!)));
  const names = [...written, ...told].map((each) => each!);
  return names.length === 0
    ? DECIDES
    : made(
        names,
        redirects.some(({ operator }) => operator.endsWith(">>")),
      );
}

const made = (names: readonly string[], adds = false): Meaning => ({ kind: "makes", names, isVariable: false, adds });

interface Asked extends Place {
  readonly loop: Loop | undefined;
  readonly piped: boolean;
}

const one = (edit: Edit, strong: boolean): Meaning => ({
  kind: "expects",
  variants: [{ edits: [edit], golden: null }],
  strong,
});

/** `test`, `[`: one question with one answer. */
function expects({ words }: Simple, wanted: boolean, asked: Asked): Meaning {
  const closes = words[0]!.text === "[";
  if (closes && words.at(-1)!.text !== "]") return DECIDES;
  const inner = words.slice(1, closes ? -1 : undefined);
  const [first, second, third] = inner;
  if (inner.length === 2 && /^-[nzfdexsrwLh]$/.test(first!.text)) return turned(first!);
  if (inner.length !== 3) return DECIDES;
  if (first!.text === "!" && /^-[nzfdexsrwLh]$/.test(second!.text)) return turned(second!);
  const operator = second!.text;
  if (/^-[gl][te]$/.test(operator)) return turned(second!);
  if (!/^(?:==?|!=|-eq|-ne)$/.test(operator)) return DECIDES;
  // Equal is what the author wants: another answer is wrong. Else the question is turned round.
  if (/^(?:==?|-eq)$/.test(operator) !== wanted) return turned(second!);
  const answer = answerIn(third!, asked) ?? answerIn(first!, asked);
  if (answer === null) return DECIDES;
  const other = answer.word === third ? first! : third!;
  const isSilence = /^["']?0*["']?$/.test(answer.word.text);
  return { kind: "expects", variants: answer.variants, strong: isComputed(other.text) && !isSilence };
}

/** A shell's own question cannot be anybody else's, so it is enough to turn it round. */
function turned({ text, start, end }: Word): Meaning {
  const edit = FLIPPED[text] === undefined ? { start, end: start, text: "! " } : { start, end, text: FLIPPED[text] };
  return one(edit, false);
}

interface Answer {
  readonly word: Word;
  readonly variants: readonly Variant[];
}

/** A written answer, one that is printed as it is written, or a file that holds it. */
function answerIn(word: Word, asked: Asked): Answer | null {
  const { text, start } = word;
  if (!isComputed(text)) {
    const edit = /^(?:""|'')$/.test(text) ? { start: start + 1, end: start + 1, text: ALTERED } : alterWord(word);
    return edit === null ? null : { word, variants: [{ edits: [edit], golden: null }] };
  }
  const printed = /^"?\$\((?:printf|echo)(?: -[en]+)? (["'])(?:[^"'$`\\]|\\[ntr])*\1\)"?$/.exec(text);
  if (printed !== null) {
    const at = start + text.indexOf(printed[1]!, text.indexOf("("));
    return { word, variants: [{ edits: [{ start: at + 1, end: at + 1, text: ALTERED }], golden: null }] };
  }
  const file = /^"?\$\((?:cat |<)\s*([\w./-]+)\)"?$/.exec(text)?.[1];
  const goldens = file === undefined ? null : goldensOf({ text: file }, asked);
  return goldens === null ? null : { word, variants: goldens };
}

function searches({ words, redirects }: Simple, piped: boolean): Meaning {
  const rest = words.slice(1);
  const options = rest.filter(({ text }) => text.startsWith("-") && text.length > 1);
  if (
    options.some(
      ({ text }) =>
        !/^-[qxFEiwasnhHoc]+$|^--(?:quiet|silent|line-regexp|fixed-strings|extended-regexp|ignore-case)$|^-[qxFEiw]*e$|^--$/.test(
          text,
        ),
    )
  )
    return DECIDES;
  const marked = rest.findIndex(({ text }) => /^-[a-zA-Z]*e$|^--$/.test(text));
  const pattern = marked >= 0 ? rest[marked + 1] : rest.find(({ text }) => !text.startsWith("-"));
  if (pattern === undefined || rest.slice(marked + 1).some(({ text }) => /^-[a-zA-Z]*e$/.test(text))) return DECIDES;
  const operands = rest.slice(rest.indexOf(pattern) + 1).filter(({ text }) => !text.startsWith("-"));
  const isFed = piped || redirects.some(({ operator }) => operator === "<");
  if (operands.length === 0 ? !isFed : operands.length > 1) return DECIDES;
  const quote = /^(["']).*\1$/s.exec(pattern.text)?.[1] ?? "";
  return one(
    { start: pattern.start, end: pattern.end, text: `${quote}${ALTERED}${quote}` },
    /[\p{L}\p{N}]/u.test(pattern.text),
  );
}

function compares({ words, redirects }: Simple, asked: Asked): Meaning {
  const rest = words.slice(1);
  const isOption = ({ text }: Word) => text.startsWith("-") && text !== "-";
  if (
    rest
      .filter(isOption)
      .some(
        ({ text }) =>
          !/^-[uqwbBaNisEZl]+$|^--(?:brief|unified|ignore-[\w-]+|strip-trailing-cr|silent|quiet|color(?:=\w+)?)$/.test(
            text,
          ),
      )
  )
    return DECIDES;
  const operands = rest.filter((word) => !isOption(word));
  if (operands.length !== 2) return DECIDES;
  const isFed = asked.piped || redirects.some(({ operator }) => operator === "<");
  const found = operands.map((word) => (word.text === "-" ? null : goldensOf(word, asked)));
  const [golden, ...more] = found.filter((each) => each !== null);
  if (golden === undefined || more.length > 0) return DECIDES;
  const other = operands[found.indexOf(golden) === 0 ? 1 : 0]!;
  if (other.text === "-" ? !isFed : plain(other) === null && asked.loop === undefined) return DECIDES;
  return { kind: "expects", variants: golden, strong: true };
}

/** The files of the base that a word names, each a way to alter what is expected; null when it names none, or others too. */
function goldensOf(word: Pick<Word, "text">, { view, folder, loop }: Asked): Variant[] | null {
  const files = loop === undefined ? [plain(word)] : eachOf(word.text, loop, { view, folder });
  if (files.length === 0) return null;
  const paths = files.map((file) => (file === null ? null : posix.join(folder, file)));
  const isGolden = (path: string | null): path is string =>
    path !== null && view.isGuarded?.(path) === true && view.read(path) !== null;
  const named = loop === undefined && files[0] != null ? { word: files[0] } : {};
  return paths.every(isGolden) ? paths.map((golden) => ({ edits: [], golden, ...named })) : null;
}

/** `"${f%.in}.out"` for each that the loop goes through. */
function eachOf(word: string, { name, words }: Loop, place: Pick<Place, "view" | "folder">): (string | null)[] {
  const found = new RegExp(`^(["']?)([\\w./-]*)\\$(?:${name}|\\{${name}(?:%(\\.\\w+))?\\})([\\w.-]*)\\1$`).exec(word);
  if (found === null || found[1] === "'") return [];
  const [, , head, cut = "", tail] = found;
  return words
    .flatMap((each) => matching(each, place))
    .map((each) => {
      if (each === null || !each.endsWith(cut)) return null;
      const file = `${head}${each.slice(0, each.length - cut.length)}${tail}`;
      return file === each ? null : file;
    });
}

/** `cases/*.in` as the files it stands for. */
function matching(word: Word, { view, folder }: Pick<Place, "view" | "folder">): (string | null)[] {
  const written = plain(word);
  if (written !== null) return [written];
  const [, place, head, tail] = /^([\w./-]*\/)?([\w.-]*)\*([\w.-]*)$/.exec(word.text) ?? [];
  if (tail === undefined) return [null];
  const names = view.list(posix.join(folder, place ?? "").replace(/\/$|^\.$/, ""));
  const found = names.filter((name) => name.startsWith(head!) && name.endsWith(tail) && !name.startsWith("."));
  return found.length === 0 ? [null] : found.map((name) => `${place ?? ""}${name}`);
}
