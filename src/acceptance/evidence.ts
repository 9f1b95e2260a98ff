// Evidence a reviewer names, looked up in the tree under review. Words that do not stand where they are said to stand prove
// nothing, and neither does a file that is not there.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Delivery } from "../schema/delivery.js";
import type { ItemJudgement } from "../schema/journal.js";
import { lookAt, type TreeEntry } from "../trees/tree.js";

/** The files a reviewer was given. */
export interface ReviewedTree {
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** What was there before the work: a file that is gone may be named too. */
  readonly before: ReadonlyMap<string, TreeEntry>;
  /** The bytes of an entry, from a place no agent writes to. */
  readonly read: (path: string, entry: TreeEntry) => Buffer;
}

/** Judgements whose evidence was looked up. Only a pass can be taken back: a no needs no proof. */
export function withEvidence(judgements: readonly ItemJudgement[], tree: ReviewedTree): ItemJudgement[] {
  const files = new Files(tree);
  return judgements.map((judgement) => {
    const missing = judgement.status === "passed" ? missingEvidence(judgement.note ?? "", files) : null;
    return missing === null ? judgement : { ...judgement, status: "unknown", note: `${missing}: ${judgement.note}` };
  });
}

/** A delivery whose judged points had their evidence looked up in the tree that was rebuilt from it. */
export function withDeliveredEvidence(delivery: Delivery, base: string, result: string): Delivery {
  const results = delivery.acceptance_results;
  const rows = results?.checklist ?? [];
  if (rows.length === 0) return delivery;
  const tree: ReviewedTree = {
    entries: lookAt(result).entries,
    before: lookAt(base).entries,
    read: (path) => readFileSync(join(result, path)),
  };
  const files = new Files(tree);
  const checklist = rows.map((row) => {
    const missing = row.status === "passed" ? missingEvidence(row.note ?? "", files) : null;
    return missing === null ? row : { ...row, status: "unknown" as const, note: `${missing}: ${row.note}` };
  });
  return { ...delivery, acceptance_results: { ...results, checklist } };
}

/** `path:line`, and words in quotation marks right after a path. */
const REFERENCE = /(?<![\w/.@:-])(?<path>\/?[\w@.+-]*\w(?:\/[\w@.+-]*\w)*)(?::(?<line>\d{1,7}))?/g;
const SAYS =
  /^[`)\]]?(?:[:-]\d+)*[\s:,(–—-]{0,4}(?:(?:it |which |that |now |line )?(?:holds?|says?|reads?|contains?|has|is|shows?|states?)\b)?[\s:,(–—-]{0,4}(?:"((?:[^"\\]|\\.){1,2000})"|“([^”]{1,2000})”|`([^`]{1,2000})`)/;

/** Why the evidence does not hold; null when it does, or when it names nothing that could be looked up. */
function missingEvidence(note: string, files: Files): string | null {
  for (const match of note.matchAll(REFERENCE)) {
    const { path = "", line } = match.groups!;
    const quote = SAYS.exec(note.slice(match.index + match[0].length));
    const words = quote?.[1] ?? quote?.[2] ?? quote?.[3];
    const file = files.find(path);
    if (file === null) {
      if (files.looksNamed(path, line !== undefined || words !== undefined))
        return `${path} is not in the tree under review`;
      continue;
    }
    const text = words === undefined && line === undefined ? "" : files.read(file);
    if (text === null) return `${file} cannot be read as text`;
    if (line !== undefined && Number(line) > linesIn(text)) return `${file} has no line ${line}`;
    if (words !== undefined && !holds(text, words)) return `${file} does not hold the words quoted from it`;
  }
  return null;
}

const linesIn = (text: string): number => text.split("\n").length;

/** Whether the words stand in the text, in their order; white space and what a quotation leaves out do not matter. */
function holds(text: string, words: string): boolean {
  const flat = flatten(text);
  return [words, words.replace(/\\(["'\\])/g, "$1")].some((form) => {
    let from = 0;
    return form
      .split(/…|\.{3}/)
      .map(flatten)
      .every((part) => {
        const at = flat.indexOf(part, from);
        from = at + part.length;
        return at >= 0;
      });
  });
}

const flatten = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Nobody reviews more than this by eye. */
const LARGEST_BYTES = 8 * 1024 * 1024;

class Files {
  readonly #tree: ReviewedTree;
  readonly #byName = new Map<string, string[]>();
  readonly #texts = new Map<string, string | null>();

  constructor(tree: ReviewedTree) {
    this.#tree = tree;
    for (const [path, { type }] of tree.entries) {
      if (type !== "file") continue;
      const name = path.slice(path.lastIndexOf("/") + 1);
      const others = this.#byName.get(name);
      if (others === undefined) this.#byName.set(name, [path]);
      else others.push(path);
    }
  }

  /** The file somebody means: its path, the end of its path, or its path with a folder of the reviewer's before it. */
  find(named: string): string | null {
    const path = named.replace(/^(?:\.?\/)+/, "");
    const others = this.#byName.get(path.slice(path.lastIndexOf("/") + 1)) ?? [];
    if (others.includes(path)) return path;
    return others.find((other) => other.endsWith(`/${path}`) || path.endsWith(`/${other}`)) ?? null;
  }

  /** Whether words that lead to no file were meant to lead to one. Addresses, versions and fractions are not. */
  looksNamed(path: string, isQuoted: boolean): boolean {
    if (path.startsWith("/") || this.#tree.before.has(path) || this.#tree.entries.has(path)) return false;
    const [folder = "", ...rest] = path.split("/");
    const hasEnding = /\.[a-z]\w{0,9}$/i.test(path);
    if (rest.length === 0) return isQuoted && hasEnding;
    return hasEnding && (isQuoted || this.#tree.entries.get(folder)?.type === "folder");
  }

  /** Its text, if it is what the reviewer was given; null otherwise. */
  read(path: string): string | null {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const entry = this.#tree.entries.get(path)!;
    const bytes = entry.size > LARGEST_BYTES ? null : this.#tree.read(path, entry);
    const isSame = bytes !== null && createHash("sha256").update(bytes).digest("hex") === entry.hash;
    const text = isSame ? bytes.toString("utf8") : null;
    this.#texts.set(path, text);
    return text;
  }
}
