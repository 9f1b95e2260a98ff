// A last line that fails, with a marker nothing else prints: a script that never reaches its end never fails by it. Where
// the author ends the script on purpose, that place is the end.

import type { TestLanguage } from "./assertions.js";
import { shellCommands } from "./languages/shell-words.js";
import { pairBrackets, splitArguments } from "./text/brackets.js";
import { applyEdits, type Edit } from "./text/edit.js";
import { newWord } from "./text/marks.js";
import { maskText } from "./text/mask.js";

/** Not what any expectation asks for. */
const CODE = 99;

/** null when the end cannot be told: another program takes over, or nobody knows the language. */
export function withFailingEnd(text: string, language: TestLanguage | null, marker: string, wanted = 0): string | null {
  switch (language) {
    case "shell":
      return shellEnd(text, marker, wanted);
    case "javascript":
      return javascriptEnd(text, marker, wanted);
    case "python":
      return pythonEnd(text, marker, wanted);
    default:
      return null;
  }
}

function shellEnd(text: string, marker: string, wanted: number): string | null {
  const commands = shellCommands(text);
  if (commands.some(({ words }) => words[0]?.text === "exec" && isProgram(words[1]?.text))) return null;
  const fail = `{ echo '${marker}' >&2; exit ${CODE}; }`;
  const edits: Edit[] = commands
    .filter(({ words }) => words[0]?.text === "exit" && mayBe(wanted, words[1]?.text))
    .map(({ start, end }) => ({ start, end, text: fail }));
  return `${applyEdits(text, edits)}\n${fail}\n`;
}

export const isProgram = (word: string | undefined): boolean => word !== undefined && !/^[0-9]*[<>&]/.test(word);

/** Another written number is how the author says no. */
function mayBe(wanted: number, argument = ""): boolean {
  const written = /^["']?([0-9]+)["']?$/.exec(argument)?.[1];
  return written === undefined || Number(written) === wanted;
}

function javascriptEnd(text: string, marker: string, wanted: number): string {
  const mask = maskText(text, "javascript");
  const pairs = pairBrackets(mask);
  const edits: Edit[] = [];
  for (const { index, 0: call } of mask.matchAll(/\bprocess\.exit\s*\(/g)) {
    const open = index + call.length - 1;
    const close = pairs[open]!;
    if (close < 0) continue;
    const argument = text.slice(open + 1, close).trim();
    if (!mayBe(wanted, argument)) continue;
    const before = argument === "" ? "" : `(${argument}), `;
    edits.push({ start: open + 1, end: close, text: `(${before}console.error("${marker}"), ${CODE})` });
  }
  const line = `process.once("beforeExit", () => { console.error("${marker}"); process.exit(${CODE}); });`;
  return `${applyEdits(text, edits)}\n;${line}\n`;
}

function pythonEnd(text: string, marker: string, wanted: number): string {
  const mask = maskText(text, "python");
  const pairs = pairBrackets(mask);
  const edits: Edit[] = [];
  for (const { index, 0: call } of mask.matchAll(/(?<![\w.])(?:sys\.exit|exit|quit|SystemExit)\s*\(/g)) {
    const open = index + call.length - 1;
    const close = pairs[open]!;
    if (close < 0) continue;
    const [first] = splitArguments(mask, pairs, open);
    const argument = first === undefined ? "" : text.slice(first.start, first.end);
    if (/^["']/.test(argument) || !mayBe(wanted, argument)) continue;
    edits.push({
      start: open + 1,
      end: close,
      text: argument === "" ? `"${marker}"` : `((${argument}), "${marker}")[1]`,
    });
  }
  const unit = /^(?:if\s+__name__\b[^\n]*|unittest\.main\s*\()/m.exec(mask);
  if (unit !== null && /\bunittest\.main\s*\(/.test(mask)) {
    const test = `class ${newWord()}(unittest.TestCase):\n    def test_${newWord()}(self):\n        self.fail("${marker}")\n\n`;
    edits.push({ start: unit.index, end: unit.index, text: test });
  }
  return `${applyEdits(text, edits)}\nraise AssertionError("${marker}")\n`;
}
