// Expectations in shell scripts: test, [, [[, grep, diff, case, variables that hold what is expected, and programs given on
// the command line to node or python.
import type { Span } from "../text/brackets.js";
import type { Edit } from "../text/edit.js";
import { ALTERED } from "../text/marks.js";
import { readJavaScript } from "./javascript.js";
import { readPython } from "./python.js";
import { type Command, shellCommands, type Word } from "./shell-words.js";
import { type Assertion, preferStrong, type TestText } from "./test-text.js";

export function readShell(text: string): TestText {
  const assertions: Assertion[] = [];
  const commands = shellCommands(text);
  const altered = commands.flatMap(({ words }) => EXPECTED.exec(words[0]?.text ?? "")?.[1] ?? []);
  let line = 1;
  let counted = 0;
  for (const command of commands) {
    for (; counted < command.start; counted += 1) if (text[counted] === "\n") line += 1;
    if (isLoopCondition(text, command)) continue;
    for (const { edits, weak } of alterCommand(text, command, altered)) {
      assertions.push({
        start: command.start,
        end: command.end,
        line,
        edits,
        test: null,
        sure: true,
        ...(weak ? { weak } : {}),
      });
    }
  }
  return { tests: [], assertions: preferStrong(assertions) };
}

/** It says how long something goes on, not what is expected; altered, it may never end. */
const isLoopCondition = (text: string, { start }: Command): boolean =>
  /(?:^|[\s;&|])(?:while|until)\s+(?:!\s+)?$/.test(text.slice(Math.max(0, start - 20), start));

interface Altered {
  readonly edits: readonly Edit[];
  readonly weak?: boolean;
}

/** A variable that holds what is expected. */
const EXPECTED = /^((?:\w+_)?(?:expected|expect|want|wanted|golden|correct|exp)\w*)=/i;

function alterCommand(text: string, command: Command, altered: readonly string[]): Altered[] {
  const [first] = command.words;
  if (command.pattern) return command.words.flatMap((word) => (/^[*?]+$/.test(word.text) ? [] : one(alterWord(word))));
  if (first === undefined) return [];
  const documents = command.documents;
  const expected = EXPECTED.exec(first.text);
  if (expected !== null) return alterAssignment(first, expected[0].length, text);
  const embedded = embeddedCode(text, command);
  if (embedded.length > 0) return embedded;
  const name = first.text.split("/").at(-1)!;
  if (name === "[" || name === "[[" || name === "test") return alterTest(command, altered);
  if (/^(?:e|f|z)?grep$/.test(name) && command.operator !== "|") return alterGrep(command);
  if (name === "diff" || name === "cmp" || name === "comm") return alterDiff(command, documents);
  return [];
}

const one = (edit: Edit | null, weak = false): Altered[] => (edit === null ? [] : [{ edits: [edit], weak }]);

export const isComputed = (text: string): boolean => /\$[A-Za-z_{(0-9?#@*!]|`/.test(text.replace(/'[^']*'/g, ""));

/** The written word as another one; null when it is computed. */
export function alterWord(word: Word): Edit | null {
  const { text, start, end } = word;
  if (isComputed(text)) return null;
  const number = /^(["']?)(-?[0-9]{1,15})\1$/.exec(text);
  if (number !== null) return { start, end, text: `${number[1]}${Number(number[2]) + 1}${number[1]}` };
  const tail = /(?:[*$"']+)$/.exec(text)?.[0] ?? "";
  const quoted = /^(["']).*\1$/s.test(text);
  const at = end - (quoted ? 1 : tail.replace(/^["']+/, "").length);
  return { start: at, end: at, text: ALTERED };
}

export const FLIPPED: Readonly<Record<string, string>> = {
  "=": "!=",
  "==": "!=",
  "!=": "=",
  "-eq": "-ne",
  "-ne": "-eq",
  "-gt": "-le",
  "-le": "-gt",
  "-lt": "-ge",
  "-ge": "-lt",
  "-n": "-z",
  "-z": "-n",
};

/** Where the expected side is altered at its assignment, turning the question round would undo it. */
function alterTest({ words }: Command, altered: readonly string[]): Altered[] {
  const names = words.flatMap(({ text }) => [...text.matchAll(/\$\{?(\w+)/g)].map((match) => match[1]!));
  if (names.some((name) => altered.includes(name))) return [];
  return words.flatMap((word, index) => {
    const operator = word.text;
    const [left, right] = [words[index - 1], words[index + 1]];
    if (right === undefined || index === 0) return [];
    const flip: Edit = { start: word.start, end: word.end, text: FLIPPED[operator] ?? operator };
    if (/^(?:==?|!=|-eq|-ne)$/.test(operator) && left !== undefined) {
      const empty = /^(?:""|'')$/.test(right.text);
      const edit = empty && operator === "!=" ? null : (alterWord(right) ?? alterWord(left));
      return one(edit ?? flip, empty);
    }
    if (operator === "=~") return one({ start: right.start, end: right.start, text: ALTERED });
    if (/^-(?:gt|ge|lt|le)$/.test(operator)) return one(flip);
    if (operator === "-n" || operator === "-z") return one(flip, true);
    if (/^-[fdexsrwLh]$/.test(operator)) {
      const before = words[index - 1];
      if (before?.text === "!") return one({ start: before.start, end: word.start, text: "" }, true);
      return one({ start: word.start, end: word.start, text: "! " }, true);
    }
    return [];
  });
}

function alterGrep({ words, negated }: Command): Altered[] {
  const rest = words.slice(1);
  // Patterns in a file are not in the script.
  if (rest.some(({ text }) => /^-[a-zA-Z]*[vf]|^--(?:file|invert-match)/.test(text))) return [];
  const marked = rest.findIndex(({ text }) => /^-[a-zA-Z]*e$/.test(text) || text === "--");
  const pattern = marked >= 0 ? rest[marked + 1] : rest.find(({ text }) => !text.startsWith("-"));
  if (pattern === undefined) return [];
  return one({ start: pattern.start, end: pattern.end, text: negated ? "''" : `'${ALTERED}'` }, negated);
}

function alterDiff({ words }: Command, documents: readonly Span[]): Altered[] {
  const [body] = documents;
  if (body !== undefined) return one({ start: body.start, end: body.start, text: `${ALTERED}\n` });
  const written = words.find(({ text }) => /^<\(\s*(?:echo|printf)\b/.test(text));
  const quote = written === undefined ? null : /(["'])(?:[^"'\\]|\\.)*\1/.exec(written.text);
  if (written === undefined || quote === null) return [];
  const at = written.start + quote.index + 1;
  return one({ start: at, end: at, text: ALTERED });
}

function alterAssignment(word: Word, from: number, text: string): Altered[] {
  const value = word.text.slice(from);
  const start = word.start + from;
  const inner = /^"?\$\(\s*(?:cat|printf|echo)\b/.exec(value);
  if (inner !== null) {
    const quote = /(?<=[^\\]\s)(["'])/.exec(value.slice(inner[0].length - 1));
    if (!value.includes("<<") && quote !== null) {
      const at = start + inner[0].length - 1 + quote.index + 1;
      return one({ start: at, end: at, text: ALTERED });
    }
    const body = value.indexOf("\n");
    return value.includes("<<") && body > 0
      ? one({ start: start + body + 1, end: start + body + 1, text: `${ALTERED}\n` })
      : [];
  }
  if (value === "" || /^\(/.test(value)) return [];
  return one(alterWord({ text: text.slice(start, word.end), start, end: word.end }));
}

const ESCAPED = "\u0002";

/** `node -e '…'`, `python3 -c '…'`, `python3 - <<EOF`. */
function embeddedCode(text: string, { words, documents }: Command): Altered[] {
  const names = words.map((word) => word.text.split("/").at(-1)!);
  const at = names.findIndex((name) => /^(?:node|python3?)$/.test(name));
  if (at < 0) return [];
  const flag = names.findIndex((name, index) => index > at && /^(?:-e|--eval|-c|-[a-z]+e)$/.test(name));
  const code = flag < 0 ? undefined : words[flag + 1];
  const python = names[at]!.startsWith("python");
  if (code === undefined) {
    const [body] = documents;
    return body === undefined ? [] : inner(text.slice(body.start, body.end), body.start, python, "");
  }
  const quote = code.text[0]!;
  if ((quote !== "'" && quote !== '"') || !code.text.endsWith(quote)) return [];
  const raw = code.text.slice(1, -1);
  return inner(quote === '"' ? raw.replaceAll('\\"', `"${ESCAPED}`) : raw, code.start + 1, python, quote);
}

function inner(code: string, offset: number, python: boolean, quote: string): Altered[] {
  const { assertions } = python ? readPython(code, true) : readJavaScript("inline.mjs", code, true);
  return assertions.flatMap(({ edits, weak }) => {
    const moved = edits.map((edit) => ({
      start: edit.start + offset,
      end: edit.end + offset,
      text: restored(edit.text, quote),
    }));
    return moved.some((edit) => quote !== "" && edit.text.replaceAll('\\"', "").includes(quote)) || moved.length === 0
      ? []
      : [{ edits: moved, ...(weak === true ? { weak } : {}) }];
  });
}

/** An escaped quote was one character and its mark; an edit ends before the mark of the one that closes. */
function restored(text: string, quote: string): string {
  if (quote !== '"') return text;
  return text.replace(/"$/, "\\").replaceAll(`"${ESCAPED}`, '\\"');
}
