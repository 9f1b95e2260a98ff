// Data with the shape of questions and answers: rows that are alike, each of more than one part. Pure.
import { posix } from "node:path";

const LIMIT = 1024 * 1024;

export function isTable(path: string, text: string): boolean {
  if (text.length > LIMIT) return false;
  switch (posix.extname(path)) {
    case ".csv":
      return areAlike(fieldsOf(text, /[,;]/));
    case ".tsv":
    case ".tab":
      return areAlike(fieldsOf(text, /\t/));
    case ".json":
      return isRows(parsed(text));
    case ".jsonl":
    case ".ndjson":
      return isRows(linesOf(text).map(parsed));
    case ".yaml":
    case ".yml":
      return linesOf(text).every((line) => /^(?:- |---|#|\s)/.test(line)) && /^- /m.test(text);
    case ".txt":
    case ".dat":
      return linesOf(text).length > 1 && areAlike(fieldsOf(text, /[ \t]+|[=|;,]/)) && /\d|=/.test(text);
    default:
      return false;
  }
}

/** A module that holds values and does nothing. */
export function isDataModule(text: string): boolean {
  return (
    text.length < LIMIT &&
    /=\s*[[{(]|\bexport\s+default\s*[[{]/.test(text) &&
    !/=>|\b(?:function|class|def|return|lambda)\b/.test(text)
  );
}

const linesOf = (text: string): string[] => text.split(/\r?\n/).filter((line) => line.trim() !== "");

const fieldsOf = (text: string, separator: RegExp): number[] =>
  linesOf(text).map((line) => line.trim().split(separator).length);

const areAlike = ([first = 0, ...others]: readonly number[]): boolean =>
  first > 1 && others.every((count) => count === first);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRows(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  const shapes = value.map((row) =>
    Array.isArray(row)
      ? `${row.length}`
      : typeof row === "object" && row !== null
        ? Object.keys(row).sort().join()
        : "",
  );
  return shapes.every((shape) => shape === shapes[0]) && !["", "0", "1"].includes(shapes[0]!);
}
