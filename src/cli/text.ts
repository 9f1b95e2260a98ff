// What may reach a terminal. Text from bundles, agents and servers is hostile until proven otherwise: every line the
// command line prints passes through `render`, which escapes control characters, so no caller can forget to.
// Styling therefore travels as Unicode noncharacters, which become ANSI only at the end. A document may hold those too, so each is
// followed by a few that were drawn when this process began: nobody's text is coloured but ours.
import { grouped } from "../errors.js";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

const OURS = Array.from({ length: 8 }, () => String.fromCharCode(0xfdd0 + Math.floor(Math.random() * 32))).join("");
const MARKS: Readonly<Record<Style, string>> = {
  bold: `\uFDD0${OURS}`,
  dim: `\uFDD1${OURS}`,
  red: `\uFDD2${OURS}`,
  green: `\uFDD3${OURS}`,
  yellow: `\uFDD4${OURS}`,
  cyan: `\uFDD5${OURS}`,
};
const END = `\uFDDF${OURS}`;
const ANSI: ReadonlyMap<string, string> = new Map([
  [MARKS.bold, "\x1b[1m"],
  [MARKS.dim, "\x1b[2m"],
  [MARKS.red, "\x1b[31m"],
  [MARKS.green, "\x1b[32m"],
  [MARKS.yellow, "\x1b[33m"],
  [MARKS.cyan, "\x1b[36m"],
  [END, "\x1b[0m"],
]);

export function styled(style: Style, text: string): string {
  return `${MARKS[style]}${text}${END}`;
}

export const bold = (text: string) => styled("bold", text);
export const dim = (text: string) => styled("dim", text);
export const red = (text: string) => styled("red", text);
export const green = (text: string) => styled("green", text);
export const yellow = (text: string) => styled("yellow", text);
export const cyan = (text: string) => styled("cyan", text);

// C1 controls, and the characters that reorder text or are not seen in it: bidi controls, zero-width, fillers, BOM, tags, and
// selectors of a variant but for the two that emoji use.
const UNSEEN =
  "\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufdd0-\\ufdef\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
const UNSAFE = new RegExp(`[\\u0000-\\u001f${UNSEEN}]`, "gu");
const UNSAFE_IN_JSON = new RegExp(`[${UNSEEN}]`, "gu");
const STYLES = new RegExp(`([\\uFDD0-\\uFDDF]${OURS})`, "g");

/** Escapes whatever could move the cursor, hide or reorder text. The result is one line. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => {
    if (character === "\t") return "  ";
    const code = character.codePointAt(0)!;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** One line for the terminal: escaped, then coloured or stripped of styling. */
export function render(line: string, color: boolean): string {
  return line
    .split(STYLES)
    .map((piece, at) => (at % 2 === 0 ? printable(piece) : color ? (ANSI.get(piece) ?? "") : ""))
    .join("");
}

/** JSON that is the same document, and as harmless on a terminal as any line: what is not seen is written as `\\u…`. */
export function jsonText(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? "null").replace(UNSAFE_IN_JSON, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** How many columns a line takes, styling aside. Wide characters count once: good enough for aligning ASCII tables. */
export function width(line: string): number {
  return [...line.replace(STYLES, "")].length;
}

/** Rows as aligned columns, two spaces apart. */
export const table = (rows: readonly (readonly string[])[]): string[] => [...aligned(() => rows)];

/** The same line by line, for more rows than should be held: they are asked for twice, to measure and to print. */
export function* aligned(rows: () => Iterable<readonly string[]>): Generator<string> {
  const widths: number[] = [];
  for (const row of rows()) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  }
  for (const row of rows()) {
    yield row
      .map((cell, i) => (i === row.length - 1 ? cell : cell + " ".repeat(widths[i]! - width(cell) + 2)))
      .join("")
      .trimEnd();
  }
}

const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

/** `2150` → `2.1 KB`. Powers of 1,024, one decimal. */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${UNITS[unit]}`;
}

/** `1 file`, `2 files`. */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(n)} ${n === 1 ? noun : plural}`;
}

/** Breaks prose at spaces so that it fits `columns`. */
export function wrap(text: string, columns: number, indent = ""): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && width(`${indent}${line} ${word}`) > columns) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  if (line !== "") lines.push(indent + line);
  return lines;
}
