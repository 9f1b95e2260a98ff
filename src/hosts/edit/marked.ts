// AGENTS.md and CLAUDE.md belong to people; we touch them only between two markers.
import type { TextEdit } from "./edit.js";

export const MARK_START = "<!-- nexus:start -->";
export const MARK_END = "<!-- nexus:end -->";

export function markedEdit(body: string): TextEdit {
  const block = `${MARK_START}\n${body.trim()}\n${MARK_END}\n`;
  return {
    add(text) {
      if (text === null || text === "") return block;
      const part = locate(text);
      if (part !== null) return text.slice(0, part.start) + block + text.slice(part.end);
      return `${text}${text.endsWith("\n") ? "" : "\n"}\n${block}`;
    },
    holds: (text) => locate(text) !== null,
    remove(text) {
      const part = locate(text);
      if (part === null) return text;
      const before = text.slice(0, part.start);
      const after = text.slice(part.end);
      const rest = after === "" ? before.replace(/\n\n$/, "\n") : before + after;
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
      return { start, end: text[end] === "\n" ? end + 1 : end };
    }
    start = next;
  }
  return null;
}
