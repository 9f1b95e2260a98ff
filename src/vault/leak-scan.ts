// Looks at every byte on its way into a bundle. A cheap pass for keywords first; rules run only around a hit.
import { isSecretFileName, KEYWORDS, type Keyword, type LeakRule, loadLeakRules } from "./leak-rules.js";
import { PatternScan } from "./pattern-scan.js";
import { type Secret, shapesOf } from "./secrets.js";

/** What was found, never itself: `masked` shows at most the public prefix of a token. */
export interface Leak {
  readonly path: string;
  /** null for a finding about the file's name. */
  readonly line: number | null;
  readonly rule: string;
  readonly masked: string;
  /** A warning may well be nothing: it is said and never refused. */
  readonly severity: "error" | "warning";
}

export interface Watcher {
  /** The file's next bytes; `last` says that none follow, which spares keeping any. */
  chunk(bytes: Uint8Array, last?: boolean): void;
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
  const search = searchFor(options.knownValues ?? []);
  const leaks: Leak[] = [];
  const observe = (path: string): Watcher => watch(path, search, rules, leaks);
  return {
    observe,
    scan(path, bytes) {
      const before = leaks.length;
      const watcher = observe(path);
      watcher.chunk(bytes);
      watcher.end();
      return leaks.slice(before);
    },
    leaks: () => [...leaks].sort(byPlace),
  };
}

/** The order leaks are told in: by path and line. */
export function byPlace(a: Leak, b: Leak): number {
  return compare(a.path, b.path) || (a.line ?? 0) - (b.line ?? 0);
}

interface Search {
  /** The keywords, then the known values: one pass finds both. */
  readonly texts: PatternScan;
  readonly knownNames: readonly string[];
}

let forKeywords: Search | null = null;

/** Where no value is known, and that is most often, the tables are the same: they are made once. */
function searchFor(secrets: readonly Secret[]): Search {
  if (secrets.length > 0) return buildSearch(secrets);
  forKeywords ??= buildSearch([]);
  return forKeywords;
}

function buildSearch(secrets: readonly Secret[]): Search {
  const values = new Map<string, string>();
  for (const { name, value } of secrets) {
    if (Buffer.byteLength(value) < MIN_KNOWN_LENGTH) continue;
    for (const shape of shapesOf(value)) if (Buffer.byteLength(shape) >= MIN_KNOWN_LENGTH) values.set(shape, name);
  }
  const texts = [...KEYWORDS.map(({ text }) => text), ...values.keys()];
  return { texts: new PatternScan(texts.map((text) => Buffer.from(text, "utf8"))), knownNames: [...values.values()] };
}

function watch(path: string, search: Search, rules: ReadonlyMap<string, LeakRule>, leaks: Leak[]): Watcher {
  let held: Uint8Array = NOTHING;
  let linesBefore = 0;
  let scanned = 0;
  const after = Math.max(AFTER, search.texts.longest);
  const found = findings(path);
  const add = found.add;
  if (isSecretFileName(path)) add("secret-file", null, path.slice(path.lastIndexOf("/") + 1));

  /** Looks for what starts at or after `scanned` and before `until`; everything a rule needs after it is present. */
  const searchUntil = (bytes: Uint8Array, until: number) => {
    let [countedTo, counted] = [0, 0];
    // Findings come nearly in order: each is counted from the one before.
    const lineAt = (at: number) => {
      counted += at < countedTo ? -countLines(bytes, at, countedTo) : countLines(bytes, countedTo, at);
      countedTo = at;
      return linesBefore + 1 + counted;
    };
    search.texts.each(bytes, scanned, until, (at, index) => {
      const keyword = KEYWORDS[index];
      if (keyword === undefined) {
        return add("vault-value", lineAt(at), `the value of "${search.knownNames[index - KEYWORDS.length]}"`);
      }
      if (!tokenFollows(bytes, at, keyword)) return;
      const rule = rules.get(keyword.rule);
      const start = rule === undefined ? null : ruleHit(rule, bytes, at);
      if (start !== null) add(keyword.rule, lineAt(start), mask(keyword), rule?.warns);
    });
    scanned = until;
  };

  /** Drops what no rule needs any more. The caller may reuse its buffer, so what is kept is copied. */
  const dropSearched = (bytes: Uint8Array) => {
    const from = Math.max(0, scanned - BEFORE);
    if (from > 0) linesBefore += countLines(bytes, 0, from);
    held = Uint8Array.prototype.slice.call(bytes, from);
    scanned -= from;
  };

  /** Looks across the seam of two pieces, so that the second need not be joined to the first. */
  const searchSeam = (bytes: Uint8Array) => {
    searchUntil(Buffer.concat([held, bytes.subarray(0, BEFORE + after)]), held.length + BEFORE);
    linesBefore += countLines(held, 0, held.length);
    scanned = BEFORE;
  };

  return {
    chunk(bytes, last = false) {
      let all = bytes;
      if (held.length > 0 && bytes.length > BEFORE + after) searchSeam(bytes);
      else if (held.length > 0) all = Buffer.concat([held, bytes]);
      held = NOTHING;
      if (last) searchUntil(all, all.length);
      else if (all.length - scanned > after) searchUntil(all, all.length - after);
      if (!last) dropSearched(all);
    },
    end() {
      searchUntil(held, held.length);
      leaks.push(...found.all());
    },
  };
}

/** What one file holds, once a rule and line. What only a name gives away gives way to what a format does. */
function findings(path: string) {
  const shaped = new Map<string, Leak>();
  const named = new Map<string, Leak>();
  return {
    add(rule: string, line: number | null, masked: string, warns = false): void {
      const kind = rule.startsWith("assigned-") ? named : shaped;
      if (kind.size >= MAX_PER_FILE || kind.has(`${rule}:${line}`)) return;
      kind.set(`${rule}:${line}`, { path, line, rule, masked, severity: warns ? "warning" : "error" });
    },
    all(): readonly Leak[] {
      const lines = new Set([...shaped.values()].map(({ line }) => line));
      return [...shaped.values(), ...[...named.values()].filter(({ line }) => !lines.has(line))];
    },
  };
}

const NOTHING = new Uint8Array(0);

/** Runs a rule around a keyword; returns where its finding starts, or null. */
function ruleHit(rule: LeakRule, bytes: Uint8Array, at: number): number | null {
  const { before, after } = rule.reach ?? { before: BEFORE, after: AFTER };
  const from = Math.max(0, at - before);
  const to = Math.min(bytes.length, at + after);
  // One character per byte, so that positions in the text are positions in the file.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("latin1");
  for (const [start, end] of rule.find(text, at - from))
    if (start <= at - from && at - from < Math.max(end, start + 1)) return from + start;
  return null;
}

function tokenFollows(bytes: Uint8Array, at: number, { text, tail }: Keyword): boolean {
  const from = at + text.length;
  if (typeof tail === "function") return tail(bytes, from);
  if (from + tail > bytes.length) return false;
  for (let i = from; i < from + tail; i += 1) if (TOKEN_BYTES[bytes[i]!] === 0) return false;
  return true;
}

const TOKEN_BYTES = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9_.+/=:%~@-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** A keyword is a public prefix; nothing after it is shown. */
function mask({ text }: Keyword): string {
  return `${text}…`;
}

const NEW_LINES = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
/** How many words may be added up before one of the four sums could overflow its byte. */
const SUMMED_WORDS = 255;

/** Counts line ends four bytes at a time and without a branch: every byte of every file passes here. */
function countLines(bytes: Uint8Array, from: number, to: number): number {
  let lines = 0;
  let at = from;
  for (; at < to && (bytes.byteOffset + at) % 4 !== 0; at += 1) if (bytes[at] === 10) lines += 1;
  if (at >= to) return lines;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, (to - at) >> 2);
  for (let index = 0; index < words.length; ) {
    const stop = Math.min(words.length, index + SUMMED_WORDS);
    let sums = 0;
    for (; index < stop; index += 1) {
      // A byte that is zero after this leaves its top bit set, and only such a byte does.
      const other = words[index]! ^ NEW_LINES;
      sums = (sums + (~(((other & LOW_BITS) + LOW_BITS) | other | LOW_BITS) >>> 7)) | 0;
    }
    lines += (sums & 0xff) + ((sums >>> 8) & 0xff) + ((sums >>> 16) & 0xff) + (sums >>> 24);
  }
  for (at += words.length * 4; at < to; at += 1) if (bytes[at] === 10) lines += 1;
  return lines;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
