// JSON with comments. Comments, order and indentation of everything that is not ours stay as they are.
import {
  applyEdits,
  createScanner,
  type EditResult,
  type FormattingOptions,
  findNodeAtLocation,
  getNodeValue,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
  stripComments,
} from "jsonc-parser";
import { NutError, shellWord } from "../../errors.js";
import type { TextEdit } from "./edit.js";

/** One thing we want in a JSON file. */
export type JsonWish =
  /**
   * This value at this place. `ours` recognises it whatever version of us wrote it; without, it may be a person's as well.
   * `hosts`: the host itself adds it to a file without it, so it goes only from a file that we made.
   */
  | {
      readonly at: JSONPath;
      readonly value: unknown;
      readonly ours?: (value: unknown) => boolean;
      readonly hosts?: true;
    }
  /** An element of the list at this place. `shared`: a person may have written the same. */
  | {
      readonly at: JSONPath;
      readonly element: unknown;
      readonly ours: (element: unknown) => boolean;
      readonly shared?: boolean;
    };

export interface JsonFile {
  readonly path: string;
  /** For a host that reads less than we do: whether what it cannot read may go, and the words that say yes. */
  readonly strict?: { readonly reader: Reader; readonly convert: boolean; readonly consent: string };
}

/** How a program reads its settings, and what it does with a file it cannot read. Seen with the real ones. */
interface Reading {
  readonly title: string;
  readonly comments: boolean;
  readonly mark: boolean;
  readonly effect: string;
}

export type Reader = "claude" | "codex" | "qwen" | "gemini";

export const READINGS: Readonly<Record<Reader, Reading>> = {
  claude: { title: "Claude Code", comments: false, mark: true, effect: "leaves out the whole file" },
  codex: { title: "Codex", comments: false, mark: false, effect: "runs no hook of the file" },
  qwen: { title: "Qwen Code", comments: true, mark: false, effect: "puts the whole file aside and runs without it" },
  gemini: { title: "Gemini CLI", comments: true, mark: false, effect: "does not start" },
};

export function jsonEdit({ path, strict }: JsonFile, wishes: readonly JsonWish[]): TextEdit {
  return {
    add(whole) {
      checkDepth(whole ?? "", path);
      const [mark, text] = withoutMark(readable(whole ?? "", path, strict));
      let result = text.trim() === "" ? "{}\n" : text;
      check(result, path);
      for (const wish of wishes) {
        checkRoom(result, wish, path);
        result = granted(result, wish);
      }
      return mark + result;
    },
    holds: (text) => wishes.some((wish) => isThere(withoutMark(text)[1], wish)),
    remove(whole, original) {
      const [mark, text] = withoutMark(whole);
      // Nothing is in it, so nothing of ours is.
      if (text.trim() === "") return whole;
      checkDepth(text, path);
      const [, before] = withoutMark(original ?? "");
      check(text, path);
      let result = text;
      for (const wish of wishes) result = revoked(result, wish, before, strict?.reader);
      return isEmpty(parse(result)) && !/\/[/*]/.test(result) ? null : mark + result;
    },
  };
}

const BYTE_ORDER_MARK = "\uFEFF";

function withoutMark(text: string): [mark: string, rest: string] {
  return text.startsWith(BYTE_ORDER_MARK) ? [BYTE_ORDER_MARK, text.slice(1)] : ["", text];
}

/** Whether a program that knows no comments can read it. */
export function isStrictJson(whole: string): boolean {
  try {
    JSON.parse(withoutMark(whole)[1]);
    return true;
  } catch {
    return false;
  }
}

/** Whether this program can read it. */
export function isReadBy(reader: Reader, whole: string): boolean {
  const { comments, mark } = READINGS[reader];
  if (!mark && withoutMark(whole)[0] !== "") return false;
  return isStrictJson(comments ? stripComments(whole) : whole);
}

/** A text its host can read. One that nobody can read is told apart later. */
function readable(whole: string, path: string, strict: JsonFile["strict"]): string {
  const [mark, text] = withoutMark(whole);
  if (strict === undefined || text.trim() === "" || !isObjectText(text) || isReadBy(strict.reader, whole)) return whole;
  const { title, comments, effect, mark: isMarkRead } = READINGS[strict.reader];
  if (strict.convert) return (isMarkRead ? mark : "") + withoutTrailingCommas(comments ? text : stripComments(text));
  const unknown = [...(comments ? [] : ["comments"]), "a trailing comma", ...(isMarkRead ? [] : ["a byte order mark"])];
  const what = `${unknown.slice(0, -1).join(", ")} or ${unknown.at(-1)}`;
  throw new NutError("HOST_SETTINGS_INVALID", `${path} has ${what}: ${title} ${effect}; nothing was changed`, {
    hint: strict.consent,
    data: { path },
  });
}

function withoutTrailingCommas(text: string): string {
  const scanner = createScanner(text, true);
  const drop: number[] = [];
  let comma = -1;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const at = scanner.getTokenOffset();
    if (comma >= 0 && (text[at] === "}" || text[at] === "]")) drop.push(comma);
    comma = text[at] === "," ? at : -1;
  }
  return drop.reverse().reduce((left, at) => left.slice(0, at) + left.slice(at + 1), text);
}

/** Whether it is an object once comments and trailing commas are forgiven: only then can setup add to it. */
export function isObjectText(whole: string): boolean {
  const errors: ParseError[] = [];
  const value: unknown = parse(withoutMark(whole)[1], errors, { allowTrailingComma: true });
  return errors.length === 0 && typeof value === "object" && value !== null && !Array.isArray(value);
}

function check(text: string, path: string): void {
  if (isObjectText(text)) return;
  throw new NutError("HOST_SETTINGS_INVALID", `${path} is not a JSON object; nothing was changed`, {
    hint: `\${EDITOR:-vi} ${shellWord(path)}`,
    data: { path },
  });
}

/** Settings go ten levels deep. What reads and writes them here calls itself for every level. */
const DEEPEST = 100;

function checkDepth(whole: string, path: string): void {
  if (depthOf(withoutMark(whole)[1]) <= DEEPEST) return;
  throw new NutError("HOST_SETTINGS_INVALID", `${path} is nested too deeply to be changed; nothing was changed`, {
    hint: `\${EDITOR:-vi} ${shellWord(path)}`,
    data: { path },
  });
}

/** How many sections and lists lie in one another at most. */
function depthOf(text: string): number {
  const scanner = createScanner(text, true);
  let [depth, deepest] = [0, 0];
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const sign = text[scanner.getTokenOffset()];
    if (sign === "{" || sign === "[") depth += 1;
    if (sign === "}" || sign === "]") depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** What is there must be able to hold what we bring: a section that is no section is not ours to replace. */
function checkRoom(text: string, wish: JsonWish, path: string): void {
  const isList = (value: unknown) => Array.isArray(value);
  const isSection = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  const places = wish.at.slice(0, -1).map((_, index) => wish.at.slice(0, index + 1));
  const twice = [...places, wish.at].find((at) => isTwice(text, at));
  if (twice !== undefined)
    throw new NutError("HOST_SETTINGS_INVALID", `${path}: ${twice.join(".")} is there twice; nothing was changed`, {
      hint: `\${EDITOR:-vi} ${shellWord(path)}`,
      data: { path },
    });
  const unfit =
    places.find((at) => !fits(valueAt(text, at), isSection)) ??
    ("value" in wish || fits(valueAt(text, wish.at), isList) ? undefined : wish.at);
  if (unfit === undefined) return;
  const kind = unfit === wish.at ? "list" : "section";
  throw new NutError("HOST_SETTINGS_INVALID", `${path}: ${unfit.join(".")} is not a ${kind}; nothing was changed`, {
    hint: `\${EDITOR:-vi} ${shellWord(path)}`,
    data: { path },
  });
}

/** Programs believe the last one, and we would write into the first. */
function isTwice(text: string, at: JSONPath): boolean {
  const around = at.length === 1 ? rootOf(text) : nodeAt(text, at.slice(0, -1));
  const named = (around?.children ?? []).filter(({ children }) => children?.[0]?.value === at.at(-1));
  return around?.type === "object" && named.length > 1;
}

const fits = (value: unknown, test: (value: unknown) => boolean): boolean => value === undefined || test(value);

function granted(text: string, wish: JsonWish): string {
  if ("value" in wish) {
    const there = nodeAt(text, wish.at);
    if (there === undefined) return change(text, wish.at, wish.value);
    return same(getNodeValue(there), wish.value) ? text : inPlaceOf(there, text, written(wish.value, there, text));
  }
  const list = valueAt(text, wish.at);
  const elements = Array.isArray(list) ? list : [];
  if (elements.filter(wish.ours).length === 1 && elements.some((element) => same(element, wish.element))) return text;
  const without = dropOurs(text, wish.at, wish.ours);
  if (!Array.isArray(valueAt(without, wish.at))) return change(without, wish.at, [wish.element]);
  return change(without, [...wish.at, (valueAt(without, wish.at) as unknown[]).length], wish.element, true);
}

/** Takes ours out; what it took the place of in `original` comes back as it was written. A person's own stays. */
function revoked(text: string, wish: JsonWish, original: string, reader?: Reader): string {
  if ("element" in wish) {
    const theirs = valueAt(original, wish.at);
    const isTheirs = (element: unknown) => Array.isArray(theirs) && theirs.some((one) => same(one, element));
    const left = dropOurs(text, wish.at, (element) => wish.ours(element) && !isTheirs(element));
    return left === text ? text : pruned(left, wish.at, original);
  }
  if (!isOurs(valueAt(text, wish.at), wish)) return text;
  if (wish.hosts === true && original !== "") return text;
  const theirs = textAt(original, wish.at);
  if (theirs === null) return pruned(change(text, wish.at, undefined), wish.at.slice(0, -1), original);
  if (reader !== undefined && !isReadBy(reader, theirs)) return change(text, wish.at, valueAt(original, wish.at));
  return inPlaceOf(nodeAt(text, wish.at)!, text, theirs);
}

/** Nothing around it is laid out anew, so that it can be undone to the byte. */
const inPlaceOf = ({ offset, length }: Node, text: string, value: string): string =>
  text.slice(0, offset) + value + text.slice(offset + length);

/** Indented as the line it begins on. */
function written(value: unknown, { offset }: Node, text: string): string {
  const { insertSpaces, tabSize = 2, eol = "\n" } = styleOf(text);
  const lead = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset))![0];
  const lines = JSON.stringify(value, null, insertSpaces === true ? tabSize : "\t").split("\n");
  return lines.join(`${eol}${lead}`);
}

function isOurs(value: unknown, { value: wanted, ours }: Extract<JsonWish, { value: unknown }>): boolean {
  if (value === undefined) return false;
  return ours === undefined ? same(value, wanted) : ours(value);
}

/** Whether something is there that only we write. */
function isThere(text: string, wish: JsonWish): boolean {
  const value = valueAt(text, wish.at);
  if ("value" in wish) return wish.ours !== undefined && isOurs(value, wish);
  return wish.shared !== true && Array.isArray(value) && value.some(wish.ours);
}

function dropOurs(text: string, at: JSONPath, ours: (element: unknown) => boolean): string {
  const list = valueAt(text, at);
  if (!Array.isArray(list)) return text;
  let result = text;
  for (let i = list.length - 1; i >= 0; i -= 1) if (ours(list[i])) result = change(result, [...at, i], undefined);
  return result;
}

/** Containers that are empty once we are gone go too, from the inside out; not one that was empty before us. */
function pruned(text: string, at: JSONPath, original: string): string {
  const isOver = (path: JSONPath) => isEmpty(valueAt(result, path)) && !isEmpty(valueAt(original, path));
  let result = text;
  for (let path = at; path.length > 0 && isOver(path); path = path.slice(0, -1))
    result = change(result, path, undefined);
  return result;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function valueAt(text: string, at: JSONPath): unknown {
  const node = nodeAt(text, at);
  return node === undefined ? undefined : getNodeValue(node);
}

/** As it is written. */
function textAt(text: string, at: JSONPath): string | null {
  const node = nodeAt(text, at);
  return node === undefined ? null : text.slice(node.offset, node.offset + node.length);
}

function nodeAt(text: string, at: JSONPath): Node | undefined {
  const tree = rootOf(text);
  return tree === undefined ? undefined : findNodeAtLocation(tree, at);
}

const rootOf = (text: string): Node | undefined => parseTree(text, [], { allowTrailingComma: true });

/** Laying a line out anew takes the square of its length: the settings of a program may be one line of megabytes. */
const LONG_LINE = 8_192;

function change(text: string, at: JSONPath, value: unknown, isArrayInsertion = false): string {
  const plain = modify(text, at, value, { isArrayInsertion });
  const isLong = plain.some(({ offset, length }) => lineAround(text, offset, length) > LONG_LINE);
  return applyEdits(text, (isLong ? null : laidOut(text, at, value, isArrayInsertion)) ?? plain);
}

/** null where a line would be indented by 200 columns or more: the layout has no such line, and breaks. */
function laidOut(text: string, at: JSONPath, value: unknown, isArrayInsertion: boolean): EditResult | null {
  try {
    return modify(text, at, value, { formattingOptions: styleOf(text), isArrayInsertion });
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function lineAround(text: string, offset: number, length: number): number {
  const end = text.indexOf("\n", offset + length);
  return (end < 0 ? text.length : end) - text.lastIndexOf("\n", offset - 1);
}

/** Indents as the file already does. */
function styleOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return indent.startsWith("\t")
    ? { insertSpaces: false, tabSize: 1, eol }
    : { insertSpaces: true, tabSize: indent.length, eol };
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
