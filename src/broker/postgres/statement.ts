// A statement as it is recorded: what it does, without the values in it.
import type { Seen } from "./watch.js";

const LONGEST = 300;
/** Longer ones are cut before they are looked at. */
const MOST_READ = 4_096;

/** Each statement of a text, as it is recorded; at least one. What was not kept of it is told, and counts as one. */
export function statementsIn({ text, more }: Seen): string[] {
  const found = bare(text)
    .split(";")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  return [...(found.length === 0 ? [""] : found).map(shortened), ...(more === 0 ? [] : [`… and ${more} bytes more`])];
}

const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/**
 * Literals become `?`, comments go, white space is one space. What is not closed is a literal to the end. A backslash escapes
 * in E'…' alone, and a dollar inside a name opens nothing: or a statement could be hidden in what looks like a literal.
 */
function bare(statement: string): string {
  const text = statement.slice(0, MOST_READ);
  const pieces =
    /(--[^\n\r]*)|(\/\*[\s\S]*?(?:\*\/|$))|((?<![\w$\x80-\uffff])[eE]'(?:[^'\\]|''|\\[\s\S])*(?:'|$)|'(?:[^']|'')*(?:'|$))|((?<![\w$\x80-\uffff])\$([A-Za-z_\x80-\uffff][\w\x80-\uffff]*)?\$[\s\S]*?(?:\$\5\$|$))|("(?:[^"]|"")*(?:"|$))|(\b\d[\w.]*)|(\$\d+)/g;
  const clean = text.replace(pieces, (_all, line, block, quoted, dollar, _tag, name, number, parameter) => {
    if (line !== undefined || block !== undefined) return " ";
    if (quoted !== undefined || dollar !== undefined || number !== undefined) return "?";
    return (name ?? parameter) as string;
  });
  return clean.replace(/\s+/g, " ").trim();
}
