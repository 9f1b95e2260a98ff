// TOML tables we own inside a person's file. They are written as one block between two comment lines, so that taking them
// out touches nothing else; a table the person already has is changed in place and keeps its comments.
import { parse, patch } from "@decimalturn/toml-patch";
import { NutError } from "../../errors.js";
import type { TextEdit } from "./edit.js";

const START = "# nexus:start";
const END = "# nexus:end";
const FIRST_LINE = `${START} (written by nexus setup; nexus setup --remove takes it out)`;

/** `tables` is what the block holds, as TOML text; `owns` are the paths it defines. */
export function tomlEdit(path: string, tables: string, owns: readonly (readonly string[])[]): TextEdit {
  return {
    add(text) {
      const rest = clear(without(text ?? ""), owns, path);
      const gap = rest === "" || rest.endsWith("\n\n") ? "" : rest.endsWith("\n") ? "\n" : "\n\n";
      const result = `${rest}${gap}${FIRST_LINE}\n${tables.trim()}\n${END}\n`;
      check(result, path);
      return result;
    },
    holds: (text) => without(text) !== text,
    remove(text) {
      const rest = without(text);
      if (rest.trim() === "") return null;
      let end = rest.length;
      while (rest[end - 1] === "\n" && rest[end - 2] === "\n") end -= 1;
      return rest.slice(0, end);
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

/** An own table under the same name would make the file invalid: it gives way, the rest of the file keeps its comments. */
function clear(text: string, owns: readonly (readonly string[])[], path: string): string {
  const value = check(text, path);
  let changed = false;
  for (const keys of owns) {
    let at: Record<string, unknown> | undefined = value;
    for (const key of keys.slice(0, -1)) at = at?.[key] as Record<string, unknown> | undefined;
    const last = keys.at(-1)!;
    if (at === undefined || !Object.hasOwn(at, last)) continue;
    delete at[last];
    changed = true;
  }
  return changed ? patch(text, value) : text;
}

function check(text: string, path: string): Record<string, unknown> {
  try {
    return parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new NutError("HOST_SETTINGS_INVALID", `${path} is not TOML; nothing was changed`, {
      hint: `mend ${path}, then run the same command again`,
      data: { path },
      cause,
    });
  }
}
