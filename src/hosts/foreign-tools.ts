// Tools of other servers, of which nothing is known but a name and the arguments of a call. One that by its name changes
// things and is given a file is an edit like any other.
import type { ToolUse } from "../schema/events.js";
import type { Fields } from "./fields.js";

const CHANGES: ReadonlySet<string> = new Set(
  "write edit create delete remove move rename copy patch append insert replace save put update apply overwrite modify mkdir touch set upload format refactor".split(
    " ",
  ),
);

/** Argument names that hold files: `path`, `file_path`, `relativePath`, `destination`, `uri`… */
const PLACES =
  /(?:^|_)(?:path|paths|file|files|filename|filenames|filepath|destination|dest|source|target|uri|directory|folder)$/;

export function foreignUse(name: string, input: Fields): ToolUse {
  const paths = isChanging(name) ? placesIn(input) : [];
  if (paths.length === 0) return { name, access: "other", classes: [], paths: [] };
  return { name, access: "edit", classes: ["file_modification"], paths };
}

/** By the words of the tool's own name, the server's left out. */
function isChanging(name: string): boolean {
  const own = name.replace(/^mcp__.*?__/, "");
  return words(own).some((word) => CHANGES.has(word));
}

const words = (name: string): string[] => snake(name).split("_");
const snake = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z\d]+/g, "_")
    .toLowerCase();

/** One level deep: a list of files, or of edits that each name one. */
function placesIn(input: Fields): string[] {
  const found = Object.entries(input).flatMap(([key, value]) => {
    if (PLACES.test(snake(key))) return texts(value);
    const items = Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [];
    return items.flatMap((item) =>
      typeof item === "object" && item !== null
        ? Object.entries(item).flatMap(([inner, text]) => (PLACES.test(snake(inner)) ? texts(text) : []))
        : [],
    );
  });
  return found.filter((text) => !/^[a-z][a-z\d+.-]+:\/\//i.test(text) || text.startsWith("file://")).map(withoutScheme);
}

/** For each file the gate asks the disk what it is. */
const MAX_ITEMS = 200;

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [value]).filter(
    (text): text is string => typeof text === "string" && text !== "",
  );

function withoutScheme(text: string): string {
  if (!text.startsWith("file://")) return text;
  try {
    return decodeURIComponent(new URL(text).pathname);
  } catch {
    return text;
  }
}
