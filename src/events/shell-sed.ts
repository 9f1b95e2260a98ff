// What a script of sed does besides printing: its `w` writes a file, its `e` runs a command. Read from left to right once.
import { literal, type Word } from "./shell-parse.js";
import { has, plain, type ShellWrite, write } from "./shell-programs.js";

export function sedWrites(args: readonly Word[]): ShellWrite[] {
  if (has(args, /^(?:-[a-zA-Z0-9]*i(?:$|[^a-z])|-[nEszu]*i|--in-place)/)) {
    return plain(args)
      .slice(1)
      .map((word) => write("sed -i", literal(word)));
  }
  const effect = effectOf(scriptsOf(args).join("\n"));
  return effect === null ? [] : [write(`sed ${effect}`, null)];
}

/** Given by flags, or else the first operand. */
function scriptsOf(args: readonly Word[]): string[] {
  const given: string[] = [];
  let operand: string | undefined;
  let isFile = false;
  let isNext = false;
  for (const { text } of args) {
    const [, glued] = /^(?:-[nEsruz]*e|--expression(?:=|$))([\s\S]*)$/.exec(text) ?? [];
    if (isNext) given.push(text);
    else if (glued !== undefined && glued !== "") given.push(glued);
    else if (/^(?:-[nEsruz]*f|--file)/.test(text)) isFile = true;
    else if (!text.startsWith("-")) operand ??= text;
    isNext = !isNext && glued === "";
  }
  if (given.length > 0 || isFile) return given;
  return operand === undefined ? [] : [operand];
}

/** Commands whose text goes on to the end of the line. */
const TO_END_OF_LINE = "aic#rR:btTlLqQ";

/** `w` when it writes a file, `e` when it runs something. */
function effectOf(script: string): "w" | "e" | null {
  for (let at = 0; at < script.length; ) {
    at = afterAddress(script, at);
    const command = script[at];
    if (command === undefined) return null;
    if (command === "w" || command === "W") return "w";
    if (command === "e") return "e";
    if (command === "s" || command === "y") {
      at = afterDelimiter(script, afterDelimiter(script, at + 2, script[at + 1]), script[at + 1]);
      for (; at < script.length && /[gpiImMew\d]/.test(script[at]!); at += 1) {
        if (script[at] === "e" || script[at] === "w") return script[at] as "e" | "w";
      }
    } else if (TO_END_OF_LINE.includes(command)) at = endOfCommand(script, at, command);
    else at += 1;
  }
  return null;
}

/** Of labels and file names a `;` is the end as well, where sed is not GNU's. */
function endOfCommand(script: string, at: number, command: string): number {
  const line = script.indexOf("\n", at);
  const end = line < 0 ? script.length : line;
  if ("aic#".includes(command)) return end;
  const next = script.indexOf(";", at);
  return next < 0 ? end : Math.min(next, end);
}

function afterAddress(script: string, from: number): number {
  let at = from;
  while (at < script.length) {
    const char = script[at]!;
    if (char === "/") at = afterFlags(script, afterDelimiter(script, at + 1, "/"));
    else if (char === "\\") at = afterFlags(script, afterDelimiter(script, at + 2, script[at + 1]));
    else if (/[\s;{}\d$,+~!]/.test(char)) at += 1;
    else break;
  }
  return at;
}

const afterFlags = (script: string, at: number): number => (/[IM]/.test(script[at] ?? "") ? at + 1 : at);

function afterDelimiter(script: string, from: number, delimiter: string | undefined): number {
  let at = from;
  while (at < script.length && script[at] !== delimiter) at += script[at] === "\\" ? 2 : 1;
  return at + 1;
}
