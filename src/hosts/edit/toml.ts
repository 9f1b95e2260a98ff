// TOML tables we own inside a person's file. They are written as one block between two comment lines, so that taking them
// out touches nothing else. A table of the person's under the same name is turned into comments where it stands, line by
// line, and back again when we go: whatever else happens to the file.
import { isDeepStrictEqual } from "node:util";
import { parse, patch } from "@decimalturn/toml-patch";
import { NutError, shellWord } from "../../errors.js";
import type { TextEdit } from "./edit.js";

const START = "# nexus:start";
const END = "# nexus:end";
const FIRST_LINE = `${START} (written by nexus setup; nexus setup --remove takes it out)`;
/** In front of a person's line that gives way. */
const ASIDE = "# nexus:aside ";

type Table = Record<string, unknown>;

/** `tables` is what the block holds, as TOML text; `owns` are the paths it defines. */
export function tomlEdit(path: string, tables: string, owns: readonly (readonly string[])[]): TextEdit {
  return {
    add(text) {
      const rest = owns.reduce((left, keys) => setAside(left, keys, path), without(text ?? ""));
      // No empty line in between: nobody could tell later whose it is.
      const gap = rest === "" || rest.endsWith("\n") ? "" : "\n";
      const result = `${rest}${gap}${FIRST_LINE}\n${tables.trim()}\n${END}\n`;
      if (parsed(result) !== null) return result;
      const name = owns.map((keys) => keys[0]).join(", ");
      throw new NutError(
        "HOST_SETTINGS_INVALID",
        `${path} has ${name} in a form that takes no more tables; nothing was changed`,
        {
          hint: `write it as [${owns[0]?.[0]}.name] tables: \${EDITOR:-vi} ${shellWord(path)}`,
          data: { path },
        },
      );
    },
    holds: (text) => without(text) !== text,
    remove(text, original) {
      const rest = broughtBack(without(text));
      const result = owns.reduce((left, keys) => restored(left, original ?? "", keys), rest);
      return result.trim() === "" ? null : result;
    },
  };
}

/** The text without our block, whose lines are gone as if they had never been there. */
function without(text: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.startsWith(START));
  const end = lines.findIndex((line, i) => i > start && line.startsWith(END));
  return start < 0 || end < 0 ? text : lines.toSpliced(start, end - start + 1).join("\n");
}

const broughtBack = (text: string): string =>
  text
    .split("\n")
    .map((line) => (line.startsWith(ASIDE) ? line.slice(ASIDE.length) : line))
    .join("\n");

/** A table under the same name would make the file invalid. What else the file says stays as it is, and is compared. */
function setAside(text: string, keys: readonly string[], path: string): string {
  const wanted = check(text, path);
  if (!dropped(wanted, keys)) return text;
  const lines = text.split("\n");
  let left = text;
  for (let i = 0; i < lines.length; i += 1) {
    const size = linesOf(lines, i, keys);
    if (size === 0) continue;
    for (let line = i; line < i + size; line += 1) lines[line] = `${ASIDE}${lines[line]}`;
    left = lines.join("\n");
    i += size - 1;
  }
  // Written in a way that is not told by its lines: then what it says comes back from the file as it was.
  const rest = parsed(left) ?? {};
  return isDeepStrictEqual(pruned(rest, keys), pruned(wanted, keys)) ? left : patch(text, wanted);
}

function restored(text: string, original: string, keys: readonly string[]): string {
  const theirs = at(parsed(original) ?? {}, keys);
  const value = parsed(text);
  if (theirs === undefined || value === null || at(value, keys) !== undefined) return text;
  let table = value;
  for (const key of keys.slice(0, -1)) {
    table[key] ??= {};
    table = table[key] as Table;
  }
  table[keys.at(-1)!] = theirs;
  return patch(text, value);
}

const at = (value: Table, keys: readonly string[]): unknown =>
  keys.reduce<unknown>((inner, key) => (inner as Table | undefined)?.[key], value);

/** A table nothing is left of says as much as none. */
function pruned(value: Table, keys: readonly string[]): Table {
  const parent = keys[0]!;
  const inner = value[parent] as Table | undefined;
  if (inner !== undefined && Object.keys(inner).length === 0) delete value[parent];
  return value;
}

/** How many lines from here on define something under these keys: a table up to the next, or one key and its value. */
function linesOf(lines: readonly string[], from: number, keys: readonly string[]): number {
  const [, header] = /^\s*\[\[?([^\]]+)\]\]?\s*(?:#.*)?$/.exec(lines[from]!) ?? [];
  if (header !== undefined) {
    if (!begins(words(header), keys)) return 0;
    const next = lines.findIndex((line, i) => i > from && /^\s*\[/.test(line));
    const own = lines.slice(from, next < 0 ? undefined : next);
    return own.findLastIndex((line) => !/^\s*(?:#.*)?$/.test(line)) + 1;
  }
  const key = (/^([^=]*)=/.exec(lines[from]!)?.[1] ?? "").trim();
  if (!/^[\w."' -]+$/.test(key)) return 0;
  const above = lines.slice(0, from).findLast((line) => /^\s*\[/.test(line));
  const table = above === undefined ? [] : words(/^\s*\[\[?([^\]]+)\]/.exec(above)?.[1] ?? "");
  if (!begins([...table, ...words(key)], keys)) return 0;
  // A value may go on over several lines.
  const end = lines.findIndex((_, i) => i >= from && parsed(lines.slice(from, i + 1).join("\n")) !== null);
  return end < 0 ? 0 : end + 1 - from;
}

const words = (key: string): string[] => key.split(".").map((word) => word.trim().replace(/^(["'])(.*)\1$/, "$2"));
const begins = (path: readonly string[], keys: readonly string[]): boolean => keys.every((key, i) => path[i] === key);

/** Whether it was there. */
function dropped(value: Table, keys: readonly string[]): boolean {
  if (at(value, keys) === undefined) return false;
  delete (at(value, keys.slice(0, -1)) as Table)[keys.at(-1)!];
  return true;
}

/** null where it is no TOML. */
export function parsed(text: string): Table | null {
  try {
    return parse(text) as Table;
  } catch {
    return null;
  }
}

function check(text: string, path: string): Table {
  try {
    return parse(text) as Table;
  } catch (cause) {
    throw new NutError("HOST_SETTINGS_INVALID", `${path} is not TOML; nothing was changed`, {
      hint: `\${EDITOR:-vi} ${shellWord(path)}`,
      data: { path },
      cause,
    });
  }
}
