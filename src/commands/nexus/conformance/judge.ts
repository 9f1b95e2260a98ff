// Does a value hold what a fixture says? Answers with sentences, none when everything holds.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Assertions, Expected, Matcher } from "../../../schema/fixture.js";
import { parsePath, valueAt } from "./json-path.js";

export function judge(value: unknown, assertions: Assertions, where: string): string[] {
  return Object.entries(assertions).flatMap(([path, expected]) => {
    const parts = parsePath(path);
    if (parts === null) return [`${where}: "${path}" is not a path this runner understands`];
    const found = valueAt(value, parts);
    return holds(found, expected) ? [] : [`${where}: ${path} is ${show(found)}, not ${show(expected)}`];
  });
}

export function judgeFiles(root: string, files: Readonly<Record<string, Assertions | null>>): string[] {
  return Object.entries(files).flatMap(([path, assertions]) => {
    const full = join(root, path);
    if (assertions === null) return existsSync(full) ? [`${path} is still there`] : [];
    if (!existsSync(full)) return [`${path} is not there`];
    if (Object.keys(assertions).length === 0) return [];
    try {
      return judge(JSON.parse(readFileSync(full, "utf8")), assertions, path);
    } catch {
      return [`${path} is not JSON`];
    }
  });
}

function holds(found: unknown, expected: Expected): boolean {
  // A field that must be null may also be absent: removing it is how a decision is taken back.
  if (expected === null) return found === null || found === undefined;
  return typeof expected === "object" ? matches(found, expected) : found === expected;
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/;

function matches(found: unknown, { type, min, max, minLength, pattern }: Matcher): boolean {
  if (type === "boolean") return typeof found === "boolean";
  if (type === "number") {
    return typeof found === "number" && found >= (min ?? found) && found <= (max ?? found);
  }
  if (typeof found !== "string" || found.length < (minLength ?? 0)) return false;
  if (type === "iso8601" && !(ISO.test(found) && !Number.isNaN(Date.parse(found)))) return false;
  return pattern === undefined || new RegExp(pattern, "u").test(found);
}

function show(value: unknown): string {
  const text = value === undefined ? "absent" : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}
