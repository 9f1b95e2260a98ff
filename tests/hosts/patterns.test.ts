// Commands, prompts and payloads come from models. Every regular expression that reads them is tried on long texts made of
// its own pieces: one that goes back over what it has read would need minutes, and a gate that is late is a gate that is open.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { ROOT } from "./hook-process.js";

const FOLDERS = ["events", "hosts", "hook", "session", "state", "tools"];
const SIZES = [250, 1_000, 4_000, 16_000];
const LONGEST = 64_000;
/** From one size to the next a linear pattern takes four times as long, a quadratic one sixteen times. */
const TOO_MUCH = 10;
const WORTH_A_LOOK_MS = 40;
/** Nothing that goes on beside it makes a pattern seem so slow: it is not asked again. */
const SURELY_SLOW_MS = 400;
/** A linear pattern reads this many letters in less than a millisecond. */
const SHORT = 1_000;
const TOO_SLOW_FOR_SHORT_MS = 100;

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, "src", folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => `src/${folder}/${name}`),
);
const patterns = sources.flatMap((file) => {
  const { code } = transformSync(readFileSync(join(ROOT, file), "utf8"), {
    loader: "ts",
    supported: { "template-literal": false },
  });
  return regexLiterals(code).map((regex) => [`${file} ${regex}`, regex] as const);
});

/** Regular expressions in JavaScript: a `/` where a value may stand, outside of strings and comments. */
function regexLiterals(code: string): RegExp[] {
  const token =
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+\/[a-z]*|[\s\S]/g;
  const found: RegExp[] = [];
  let before = "";
  for (const [text] of code.matchAll(token)) {
    const literal = /^(\/(?![/*]).+\/)([a-z]*)$/s.exec(text);
    if (literal !== null && /(?:[([{,;:=!&|?+}>]|\breturn|^)$/.test(before))
      found.push(new RegExp(literal[1]!.slice(1, -1), literal[2]!));
    if (text.trim() !== "") before = (before + text).slice(-10);
  }
  return found;
}

/** Words and signs of a pattern, and what patterns like to run over. */
function pieces({ source }: RegExp): string[] {
  const plain = source.replace(/\\[bBdDsSwWpP](?:\{[^}]*\})?/g, " ").replace(/\\(.)/g, "$1");
  const words = plain.match(/[^\s()[\]{}|*+?^$.]{2,}|[A-Za-z0-9_]{2,}/g) ?? [];
  const signs = plain.match(/[^\sA-Za-z0-9]/g) ?? [];
  return [...new Set([...words.slice(0, 20), ...signs, "a", "1", " ", "\n", "'", '"', "x "])].slice(0, 30);
}

function spent(regex: RegExp, text: string): number {
  const once = () => {
    regex.lastIndex = 0;
    const start = process.cpuUsage();
    if (regex.global) text.replace(regex, "");
    else regex.exec(text);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  };
  const first = once();
  return first < WORTH_A_LOOK_MS || first > SURELY_SLOW_MS ? first : Math.min(first, once(), once());
}

function growsTooFast(regex: RegExp, prefix: string, pump: string): boolean {
  let before = Number.POSITIVE_INFINITY;
  for (const size of prefix === "" ? [...SIZES, LONGEST] : SIZES) {
    const text = `${prefix}${pump.repeat(Math.ceil(size / pump.length))}\u0001`;
    const now = spent(regex, text);
    if (now > WORTH_A_LOOK_MS && now > before * TOO_MUCH) return true;
    if (size <= SHORT && now > TOO_SLOW_FOR_SHORT_MS) return true;
    before = Math.max(now, 0.5);
  }
  return false;
}

describe("patterns that read what models write", () => {
  it("are all looked at", () => {
    expect(patterns.length).toBeGreaterThan(100);
    expect(regexLiterals('x = a / b / c; f(/a"b/g); return /[/]x/; // /no/\n"/no/"')).toEqual([/a"b/g, /[/]x/]);
  });

  it("would be caught if they grew too fast", () => {
    expect(growsTooFast(/open\s*[^;]*\s*>/, "open", " ")).toBe(true);
    expect(growsTooFast(/^\s*TASK:/m, "", "\n")).toBe(true);
    expect(growsTooFast(/^[ \t]*TASK:/m, "", "\n")).toBe(false);
  });

  it.each(patterns)("%s", (_, regex) => {
    const parts = pieces(regex);
    const bad = ["", ...parts].flatMap((prefix) =>
      parts.filter((pump) => growsTooFast(regex, prefix, pump)).map((pump) => JSON.stringify([prefix, pump])),
    );
    expect(bad).toEqual([]);
  });
});
