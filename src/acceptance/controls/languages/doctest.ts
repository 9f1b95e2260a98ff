// Examples in a document, as Python's doctest reads them: what stands below `>>> line` is what the line must print.
import { ALTERED } from "../text/marks.js";
import type { Assertion, TestText } from "./test-text.js";

const PROMPT = /^([ \t]*)>>> /;

/** Whether a text holds examples of that kind. */
export const hasExamples = (text: string): boolean => /^[ \t]*>>> /m.test(text);

export function readDoctest(text: string): TestText {
  const lines = text.split("\n");
  const assertions: Assertion[] = [];
  let indent: string | null = null;
  let skips = false;
  let start = 0;
  lines.forEach((line, index) => {
    const end = start + line.length;
    const prompt = PROMPT.exec(line)?.[1];
    if (prompt !== undefined) {
      indent = prompt;
      skips = /#\s*doctest:.*\+SKIP\b/.test(line);
    } else if (indent !== null && !line.startsWith(`${indent}...`)) {
      // Only its first line: one is enough to make the example fail.
      const said = line.startsWith(indent) && line.trim() !== "" && !/^\s*(?:```|~~~)/.test(line);
      const at = start + indent.length;
      const edits = [{ start: at, end: at, text: ALTERED }];
      if (said && !skips) assertions.push({ start, end, line: index + 1, edits, test: null, sure: true });
      indent = null;
    }
    start = end + 1;
  });
  return { tests: [], assertions };
}
