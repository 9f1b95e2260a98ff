// Looks at every byte on its way into a bundle. A cheap pass for keywords first; rules run only around a hit.
import { isSecretFileName, KEYWORDS, type Keyword, type LeakRule, loadLeakRules } from "./leak-rules.js";
import { type Match, PatternSet } from "./patterns.js";
import type { Secret } from "./secrets.js";

/** What was found, never itself: `masked` shows at most the public prefix of a token. */
export interface Leak {
  readonly path: string;
  /** null for a finding about the file's name. */
  readonly line: number | null;
  readonly rule: string;
  readonly masked: string;
}

export interface Watcher {
  chunk(bytes: Uint8Array): void;
  end(): void;
}

export interface LeakScanner {
  /** Watches one file's bytes as they pass. */
  observe(path: string): Watcher;
  scan(path: string, bytes: Uint8Array): readonly Leak[];
  /** Everything found so far, by path and line. */
  leaks(): readonly Leak[];
}

export interface LeakScannerOptions {
  /** Values of the vault; found exactly, in any file. */
  readonly knownValues?: readonly Secret[];
  readonly rules?: ReadonlyMap<string, LeakRule>;
}

/** What a rule may need to see: a name before the token, and a private key after its first line. */
const BEFORE = 512;
const AFTER = 12 * 1024;
/** Shorter known values would be found by accident: "true", "admin", "5432". */
const MIN_KNOWN_LENGTH = 8;
/** A file full of findings is one problem, not a thousand. */
const MAX_PER_FILE = 20;

export async function leakScanner(options: LeakScannerOptions = {}): Promise<LeakScanner> {
  const rules = options.rules ?? (await loadLeakRules());
  const search = buildSearch(options.knownValues ?? []);
  const found: Leak[] = [];
  const observe = (path: string): Watcher => watch(path, search, rules, found);
  return {
    observe,
    scan(path, bytes) {
      const before = found.length;
      const watcher = observe(path);
      watcher.chunk(bytes);
      watcher.end();
      return found.slice(before);
    },
    leaks: () => [...found].sort((a, b) => compare(a.path, b.path) || (a.line ?? 0) - (b.line ?? 0)),
  };
}

interface Search {
  readonly keywords: PatternSet;
  readonly known: PatternSet;
  readonly knownNames: readonly string[];
}

function buildSearch(secrets: readonly Secret[]): Search {
  const values = new Map<string, string>();
  for (const { name, value } of secrets) {
    if (Buffer.byteLength(value) < MIN_KNOWN_LENGTH) continue;
    values.set(value, name);
    values.set(JSON.stringify(value).slice(1, -1), name);
    values.set(Buffer.from(value, "utf8").toString("base64"), name);
  }
  return {
    keywords: new PatternSet(KEYWORDS.map(({ text }) => Buffer.from(text, "latin1"))),
    known: new PatternSet([...values.keys()].map((value) => Buffer.from(value, "utf8"))),
    knownNames: [...values.values()],
  };
}

function watch(path: string, search: Search, rules: ReadonlyMap<string, LeakRule>, found: Leak[]): Watcher {
  let held: Uint8Array = new Uint8Array(0);
  let linesBefore = 0;
  let scanned = 0;
  const seen = new Set<string>();
  const add = (rule: string, line: number | null, masked: string) => {
    if (seen.size >= MAX_PER_FILE || seen.has(`${rule}:${line}`)) return;
    seen.add(`${rule}:${line}`);
    found.push({ path, line, rule, masked });
  };
  if (isSecretFileName(path)) add("secret-file", null, path.slice(path.lastIndexOf("/") + 1));

  /** Looks at keywords that start before `until`; everything a rule needs after them is present. */
  const look = (bytes: Uint8Array, until: number) => {
    const lineAt = (at: number) => linesBefore + 1 + countLines(bytes, 0, at);
    for (let hit = nextHit(search.keywords, bytes, scanned, until); hit !== null; ) {
      const keyword = KEYWORDS[hit.pattern]!;
      const next = hit.at + 1;
      if (tokenFollows(bytes, hit.at, keyword)) {
        const at = ruleHit(rules.get(keyword.rule), bytes, hit.at);
        if (at !== null) add(keyword.rule, lineAt(at), mask(keyword));
      }
      hit = nextHit(search.keywords, bytes, next, until);
    }
    for (let hit = nextHit(search.known, bytes, scanned, until); hit !== null; ) {
      add("vault-value", lineAt(hit.at), `the value of "${search.knownNames[hit.pattern]}"`);
      hit = nextHit(search.known, bytes, hit.at + 1, until);
    }
    scanned = until;
  };

  return {
    chunk(bytes) {
      const all = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      const after = Math.max(AFTER, search.known.longest);
      if (all.length - scanned > after) look(all, all.length - after);
      const keep = Math.max(0, scanned - BEFORE);
      if (keep > 0) linesBefore += countLines(all, 0, keep);
      // The caller may reuse its buffer, so what is kept is copied.
      held = Uint8Array.prototype.slice.call(all, keep);
      scanned -= keep;
    },
    end() {
      look(held, held.length);
      held = new Uint8Array(0);
    },
  };
}

function nextHit(set: PatternSet, bytes: Uint8Array, from: number, until: number): Match | null {
  const match = set.find(bytes, from);
  return match === null || match.at >= until ? null : match;
}

/** Runs a rule around a keyword; returns where its finding starts, or null. */
function ruleHit(rule: LeakRule | undefined, bytes: Uint8Array, at: number): number | null {
  if (rule === undefined) return null;
  const from = Math.max(0, at - BEFORE);
  const to = Math.min(bytes.length, at + AFTER);
  // One character per byte, so that positions in the text are positions in the file.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
  for (const [start, end] of rule.find(text))
    if (start <= at - from && at - from < Math.max(end, start + 1)) return from + start;
  return null;
}

function tokenFollows(bytes: Uint8Array, at: number, { text, tail }: Keyword): boolean {
  const from = at + text.length;
  if (from + tail > bytes.length) return false;
  for (let i = from; i < from + tail; i += 1) if (TOKEN_BYTES[bytes[i]!] === 0) return false;
  return true;
}

const TOKEN_BYTES = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9_.+/=:%~@-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** A keyword is a public prefix; nothing after it is shown. */
function mask({ text, shown = text }: Keyword): string {
  return `${shown}…`;
}

const NEW_LINES = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;

/** Counts line ends four bytes at a time: every byte of every file passes here. */
function countLines(bytes: Uint8Array, from: number, to: number): number {
  let lines = 0;
  let at = from;
  for (; at < to && (bytes.byteOffset + at) % 4 !== 0; at += 1) if (bytes[at] === 10) lines += 1;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + at, (to - at) >> 2);
  for (let index = 0; index < words.length; index += 1) {
    // A byte that is zero after this leaves its top bit set, and only such a byte does.
    const other = words[index]! ^ NEW_LINES;
    const found = ~(((other & LOW_BITS) + LOW_BITS) | other | LOW_BITS);
    if (found !== 0) lines += Math.imul(found >>> 7, 0x01010101) >>> 24;
  }
  for (at += words.length * 4; at < to; at += 1) if (bytes[at] === 10) lines += 1;
  return lines;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
