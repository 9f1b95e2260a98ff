// Whether a text outside the tests decides something, told from the base's file before any work.
import { posix } from "node:path";
import type { Decides } from "../plan/checkers.js";
import { findAssertions, testLanguage } from "./assertions.js";
import { shellCommands } from "./languages/shell-words.js";
import type { Assertion } from "./languages/test-text.js";
import { moduleFiles } from "./python-modules.js";

export function decides(path: string, text: string): Decides | null {
  const language = testLanguage(path, text);
  // What is not read in full is judged by its name, as data are.
  if (language === null || language === "loose") return "data";
  if (language === "doctest") return "tests";
  const found = findAssertions(path, text);
  if (found.length === 0) return null;
  const own = found.filter(({ helper, weak }) => helper === undefined && weak !== true);
  if (own.some((assertion) => /\b(?:assert|expect\s*\()/i.test(spanOf(assertion, text)))) return "tests";
  if (found.some((assertion) => comparesParameters(spanOf(assertion, text), text))) return "compares";
  return own.length > 0 ? "refuses" : "guards";
}

const spanOf = ({ start, end }: Assertion, text: string): string => text.slice(start, end);

/** `same(actual, wanted)`: two names of one list of parameters stand on both sides of a comparison. */
function comparesParameters(assertion: string, text: string): boolean {
  if (/["']?\$\{?1\}?["']?\s+(?:==?|!=|-eq|-ne)\s+["']?\$\{?2\}?/.test(assertion)) return true;
  for (const [, one, other] of assertion.matchAll(/\b([A-Za-z_$][\w$]*)\s*(?:[!=]==?|,)\s*([A-Za-z_$][\w$]*)\b/g)) {
    const list = new RegExp(`\\(\\s*${quoted(one!)}\\b[^(),]*,\\s*${quoted(other!)}\\b[^()]*\\)\\s*(?:=>|\\{|:|->)`);
    if (one !== other && list.test(text)) return true;
  }
  return false;
}

const quoted = (name: string): string => name.replaceAll("$", "\\$");

/** Names of files that a shell text runs without arguments, and whose output nobody reads. */
export function filesRunAlone(text: string): string[] {
  return shellCommands(text).flatMap(({ words, operator }) => {
    const all = words.map((word) => word.text.replace(/^["']|["']$/g, ""));
    const plain = all.slice(all.findIndex((word) => !/^\w+=/.test(word)));
    const [program = "", file] = plain;
    if (operator === "|" || operator === "|&") return [];
    if (/^python3?$/.test(program) && file === "-m") return modulesRun(plain.slice(2));
    if (plain.length === 1 && program.includes("/")) return [posix.basename(program)];
    const runs = /^(?:\.|source|(?:ba|da|z|k)?sh|node|python3?|deno|bun|tsx|ruby|perl|php)$/.test(program);
    return runs && plain.length === 2 ? [posix.basename(file!)] : [];
  });
}

/** `python3 -m doctest README.md` tries the document; `python3 -m shop.selftest` runs shop/selftest.py. */
function modulesRun([module = "", ...rest]: readonly string[]): string[] {
  if (module === "doctest") return rest.filter((word) => !word.startsWith("-")).map((word) => posix.basename(word));
  return rest.length === 0 ? moduleFiles(module).map((path) => posix.basename(path)) : [];
}
