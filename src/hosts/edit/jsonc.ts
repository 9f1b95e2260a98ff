// JSON with comments. Comments, order and indentation of everything that is not ours stay as they are.
import {
  applyEdits,
  createScanner,
  type FormattingOptions,
  findNodeAtLocation,
  getNodeValue,
  type JSONPath,
  modify,
  type ParseError,
  parse,
  parseTree,
  stripComments,
} from "jsonc-parser";
import { NutError } from "../../errors.js";
import type { TextEdit } from "./edit.js";

/** One thing we want in a JSON file. */
export type JsonWish =
  /** This value at this place. */
  | { readonly at: JSONPath; readonly value: unknown }
  /** An element of the list at this place, recognised by `ours` whatever version of us wrote it. */
  | { readonly at: JSONPath; readonly element: unknown; readonly ours: (element: unknown) => boolean };

export interface JsonFile {
  readonly path: string;
  /** For a host that leaves out a file with comments or a trailing comma as a whole: whether they may go. */
  readonly strict?: { readonly convert: boolean };
}

export function jsonEdit({ path, strict }: JsonFile, wishes: readonly JsonWish[]): TextEdit {
  return {
    add(whole) {
      const [mark, text] = withoutMark(whole ?? "");
      let result = text.trim() === "" ? "{}\n" : text;
      check(result, path);
      if (strict !== undefined) result = asStrict(result, path, strict.convert);
      for (const wish of wishes) {
        checkRoom(result, wish, path);
        result = granted(result, wish);
      }
      return mark + result;
    },
    holds: (text) => wishes.some((wish) => isThere(withoutMark(text)[1], wish)),
    remove(whole, original) {
      const [mark, text] = withoutMark(whole);
      const [, before] = withoutMark(original ?? "");
      check(text, path);
      let result = text;
      for (const wish of wishes) result = revoked(result, wish, before);
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

function asStrict(text: string, path: string, convert: boolean): string {
  if (isStrictJson(text)) return text;
  if (convert) return withoutTrailingCommas(stripComments(text));
  const why = "Claude Code would leave out the whole file without a word";
  throw new NutError("HOST_SETTINGS_INVALID", `${path} has comments or a trailing comma: ${why}; nothing was changed`, {
    hint: "nexus setup claude --convert",
    data: { path },
  });
}

/** Of a text without comments. */
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

function check(text: string, path: string): void {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  if (errors.length === 0 && typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new NutError("HOST_SETTINGS_INVALID", `${path} is not a JSON object; nothing was changed`, {
    hint: `mend ${path}, then run the same command again`,
    data: { path },
  });
}

/** What is there must be able to hold what we bring: a section that is no section is not ours to replace. */
function checkRoom(text: string, wish: JsonWish, path: string): void {
  const isList = (value: unknown) => Array.isArray(value);
  const isSection = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  const places = wish.at.slice(0, -1).map((_, index) => wish.at.slice(0, index + 1));
  const unfit =
    places.find((at) => !fits(valueAt(text, at), isSection)) ??
    ("value" in wish || fits(valueAt(text, wish.at), isList) ? undefined : wish.at);
  if (unfit === undefined) return;
  const kind = unfit === wish.at ? "list" : "section";
  throw new NutError("HOST_SETTINGS_INVALID", `${path}: ${unfit.join(".")} is not a ${kind}; nothing was changed`, {
    hint: `mend ${path}, then run the same command again`,
    data: { path },
  });
}

const fits = (value: unknown, test: (value: unknown) => boolean): boolean => value === undefined || test(value);

function granted(text: string, wish: JsonWish): string {
  if ("value" in wish) {
    if (same(valueAt(text, wish.at), wish.value)) return text;
    return change(text, wish.at, wish.value);
  }
  const list = valueAt(text, wish.at);
  const elements = Array.isArray(list) ? list : [];
  if (elements.filter(wish.ours).length === 1 && elements.some((element) => same(element, wish.element))) return text;
  const without = dropOurs(text, wish.at, wish.ours);
  if (!Array.isArray(valueAt(without, wish.at))) return change(without, wish.at, [wish.element]);
  return change(without, [...wish.at, (valueAt(without, wish.at) as unknown[]).length], wish.element, true);
}

function revoked(text: string, wish: JsonWish, original: string): string {
  const theirs = "value" in wish ? valueAt(original, wish.at) : undefined;
  if (theirs !== undefined) return change(text, wish.at, theirs);
  const result =
    "value" in wish
      ? valueAt(text, wish.at) === undefined
        ? text
        : change(text, wish.at, undefined)
      : dropOurs(text, wish.at, wish.ours);
  return pruned(result, wish.at.slice(0, "value" in wish ? -1 : undefined));
}

function isThere(text: string, wish: JsonWish): boolean {
  const value = valueAt(text, wish.at);
  return "value" in wish ? value !== undefined : Array.isArray(value) && value.some(wish.ours);
}

function dropOurs(text: string, at: JSONPath, ours: (element: unknown) => boolean): string {
  const list = valueAt(text, at);
  if (!Array.isArray(list)) return text;
  let result = text;
  for (let i = list.length - 1; i >= 0; i -= 1) if (ours(list[i])) result = change(result, [...at, i], undefined);
  return result;
}

/** Containers that are empty once we are gone go too, from the inside out. */
function pruned(text: string, at: JSONPath): string {
  let result = text;
  for (let path = at; path.length > 0 && isEmpty(valueAt(result, path)); path = path.slice(0, -1))
    result = change(result, path, undefined);
  return result;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function valueAt(text: string, at: JSONPath): unknown {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const node = tree === undefined ? undefined : findNodeAtLocation(tree, at);
  return node === undefined ? undefined : getNodeValue(node);
}

function change(text: string, at: JSONPath, value: unknown, isArrayInsertion = false): string {
  return applyEdits(text, modify(text, at, value, { formattingOptions: styleOf(text), isArrayInsertion }));
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
