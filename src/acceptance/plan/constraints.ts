// Constraints of a request. Those about paths are enforced by comparing the tree; the rest are told to every agent
// and to the reviewer. A sentence is only taken as a path rule when all of it is understood: half-understood rules
// would either stop honest work or give false comfort.

import type { Change } from "../../trees/tree.js";
import { pathAllowed } from "./paths.js";

export interface PathRule {
  /** only: changes stay within the paths; never: they stay out of them. */
  readonly kind: "only" | "never";
  readonly paths: readonly string[];
  /** Which changes the sentence speaks of. */
  readonly changes: readonly Change["kind"][];
  readonly text: string;
}

export interface Constraints {
  readonly all: readonly string[];
  readonly rules: readonly PathRule[];
  /** Sentences that only a reader can judge. */
  readonly spoken: readonly string[];
}

const VERB = "(?:modify|change|edit|touch|alter|write(?: to)?|create|add|delete|remove|rename|move)";
const VERBS = `(${VERB}(?:(?:,| or| and|, or|, and)\\s*${VERB})*)`;
const EVERY: readonly Change["kind"][] = ["created", "modified", "deleted"];
const NARROW: Readonly<Record<string, readonly Change["kind"][]>> = {
  create: ["created"],
  add: ["created"],
  delete: ["deleted"],
  remove: ["deleted"],
  rename: ["created", "deleted"],
  move: ["created", "deleted"],
};
// "files" is a word here, unless it begins a path.
const THINGS = "(?:(?:any(?:thing| files?| code)?|(?:the |existing )?files?|code)(?![\\w/.-]))?";
const PLACE = "(?:outside(?: of)?|except(?: in| under| for)?|other than(?: in)?|beyond)";
const INSIDE = "(?:in|under|inside|within|below)";
const DO_NOT = "(?:do not|don't|never|must not|may not|no agent may)";

const PATTERNS: readonly { readonly kind: PathRule["kind"]; readonly pattern: RegExp }[] = [
  { kind: "only", pattern: new RegExp(`^${DO_NOT}\\s+${VERBS}\\s+${THINGS}\\s*${PLACE}\\s+(.+)$`, "i") },
  { kind: "only", pattern: new RegExp(`^only\\s+${VERBS}\\s+${THINGS}\\s*(?:${INSIDE}\\s+)?(.+)$`, "i") },
  { kind: "only", pattern: new RegExp(`^${VERBS}\\s+only\\s+${THINGS}\\s*(?:${INSIDE}\\s+)?(.+)$`, "i") },
  { kind: "never", pattern: new RegExp(`^${DO_NOT}\\s+${VERBS}\\s+${THINGS}\\s*(?:${INSIDE}\\s+)(.+)$`, "i") },
  { kind: "never", pattern: new RegExp(`^${DO_NOT}\\s+${VERBS}\\s+(.+)$`, "i") },
];

export function readConstraints(sentences: readonly string[]): Constraints {
  const rules: PathRule[] = [];
  const spoken: string[] = [];
  for (const text of sentences) {
    const rule = readRule(text);
    if (rule === null) spoken.push(text);
    else rules.push(rule);
  }
  return { all: sentences, rules, spoken };
}

/** Longer than any list of paths a person writes; patterns that look back and forth stay fast below it. */
const LONGEST_SENTENCE = 10_000;

function readRule(text: string): PathRule | null {
  const sentence = plain(text);
  if (sentence.length > LONGEST_SENTENCE) return null;
  for (const { kind, pattern } of PATTERNS) {
    const match = pattern.exec(sentence);
    if (match === null) continue;
    const paths = readPaths(match[2]!);
    if (paths !== null) return { kind, paths, changes: changesMeant(match[1]!), text };
  }
  return null;
}

/** One blank between words and no full stop: what is left, the patterns read in one go, however long it is. */
function plain(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  let end = flat.length;
  while (end > 0 && ".!".includes(flat[end - 1]!)) end -= 1;
  return flat.slice(0, end);
}

/** "delete" forbids deleting; "modify" is how people say any change. */
function changesMeant(verbs: string): readonly Change["kind"][] {
  const meant = new Set<Change["kind"]>();
  for (const verb of verbs.toLowerCase().match(/[a-z]+/g) ?? []) {
    if (verb === "or" || verb === "and" || verb === "to") continue;
    for (const kind of NARROW[verb] ?? EVERY) meant.add(kind);
  }
  return EVERY.filter((kind) => meant.has(kind));
}

/** A list of paths and nothing else, or null: "files/src/ and `tests/`" is, "the public API" is not. */
function readPaths(text: string): string[] | null {
  const words = text
    .replace(/\b(?:the\s+)?(?:folders?|director(?:y|ies)|paths?|files?)\b(?!\/)/gi, " ")
    .replace(/\s+/g, " ")
    .split(/\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+/)
    .map((word) => word.trim().replace(/^(?:any(?:thing)?\s+)?(?:(?:the|in|under|inside|within|below)\s+)*/i, ""))
    .filter((word) => word !== "");
  const paths: string[] = [];
  for (const word of words) {
    const bare = /^[`"'](.+)[`"']$/.exec(word)?.[1] ?? word;
    const quoted = bare !== word;
    if (/\s/.test(bare)) return null;
    // Without a slash, a dot or quotes it is a word, not a path.
    if (!quoted && !/[/*]|\.[A-Za-z0-9]+$/.test(bare)) return null;
    if (bare.startsWith("/") || bare.split("/").includes("..")) return null;
    paths.push(bare);
  }
  return paths.length === 0 ? null : paths;
}

export interface Violation {
  readonly path: string;
  readonly constraint: string;
}

/** Which changes break which rule. */
export function violations(changes: readonly Pick<Change, "path" | "kind">[], rules: readonly PathRule[]): Violation[] {
  const broken: Violation[] = [];
  for (const { path, kind } of changes) {
    for (const rule of rules) {
      if (!rule.changes.includes(kind)) continue;
      const inside = pathAllowed(path, rule.paths);
      if (rule.kind === "only" ? !inside : inside) broken.push({ path, constraint: rule.text });
    }
  }
  return broken;
}
