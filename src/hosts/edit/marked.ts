// AGENTS.md and CLAUDE.md belong to people; we touch them only between two markers.
import type { TextEdit } from "./edit.js";

export const MARK_START = "<!-- nexus:start -->";
export const MARK_END = "<!-- nexus:end -->";

export function markedEdit(body: string): TextEdit {
  const lines = [MARK_START, ...body.trim().split("\n"), MARK_END, ""];
  return {
    add(text) {
      // Git gives a file other ends of lines, all of them or none.
      const end = text?.includes("\r\n") ? "\r\n" : "\n";
      const block = lines.join(end);
      if (text === null || text === "") return block;
      const part = locate(text);
      if (part !== null) return text.slice(0, part.start) + block + text.slice(part.end);
      return `${text}${text.endsWith("\n") ? "" : end}${end}${block}`;
    },
    holds: (text) => locate(text) !== null,
    remove(text) {
      const part = locate(text);
      if (part === null) return text;
      const before = text.slice(0, part.start);
      const after = text.slice(part.end);
      const rest = after === "" ? before.replace(/(\r?\n)\r?\n$/, "$1") : before + after;
      return rest.trim() === "" ? null : rest;
    },
  };
}

/** A mark without its own end is nobody's: what stands below it may be a person's. */
function locate(text: string): { start: number; end: number } | null {
  let start = text.indexOf(MARK_START);
  while (start >= 0) {
    const close = text.indexOf(MARK_END, start);
    const next = text.indexOf(MARK_START, start + 1);
    if (close < 0) return null;
    if (next < 0 || close < next) {
      const end = close + MARK_END.length;
      return { start, end: end + (/^\r?\n/.exec(text.slice(end, end + 2))?.[0].length ?? 0) };
    }
    start = next;
  }
  return null;
}
