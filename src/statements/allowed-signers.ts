// Whose key is whose: git's allowed_signers (ssh-keygen(1), ALLOWED SIGNERS) and a list of revoked keys. Read more strictly
// than OpenSSH does: a principal with a wildcard or a letter outside ASCII names nobody, certificates are not followed, and
// a line that is not understood trusts no one. The reader is told which lines those are.
import { fingerprint, keyLine, parseKeyLine, type SshKey } from "./ssh-key.js";

export interface TrustLine {
  readonly principals: readonly string[];
  readonly key: SshKey;
  /** Patterns of namespaces; null allows every one. */
  readonly namespaces: readonly string[] | null;
  readonly validAfter: Date | null;
  readonly validBefore: Date | null;
  /** Counted from 1. */
  readonly line: number;
}

export interface Trust {
  readonly lines: readonly TrustLine[];
  /** Fingerprints. */
  readonly revoked: ReadonlySet<string>;
  /** Lines that trust no one, and why. */
  readonly skipped: readonly { readonly line: number; readonly why: string }[];
}

export const NO_TRUST: Trust = { lines: [], revoked: new Set(), skipped: [] };

export function parseAllowedSigners(text: string): Pick<Trust, "lines" | "skipped"> {
  const lines: TrustLine[] = [];
  const skipped: { line: number; why: string }[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(raw)) continue;
    const parsed = parseTrustLine(raw, index + 1);
    if (typeof parsed === "string") skipped.push({ line: index + 1, why: parsed });
    else lines.push(parsed);
  }
  return { lines, skipped };
}

/** Public keys, one per line, as sshd's RevokedKeys takes them. Throws for anything else: nobody may be un-revoked by a typo. */
export function parseRevoked(bytes: Uint8Array, refuse: (why: string) => Error): ReadonlySet<string> {
  const text = Buffer.from(bytes).toString("utf8");
  if (text.startsWith("SSHKRL\n\0")) throw refuse("it is a binary KRL; list the public keys, one per line, instead");
  const found = new Set<string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const key = parseKeyLine(line);
    if (key === null) throw refuse(`line ${index + 1} is not a public key`);
    found.add(fingerprint(key));
  }
  return found;
}

function parseTrustLine(raw: string, line: number): TrustLine | string {
  const [first, rest] = splitWord(trim(raw));
  const principals = unquoted(first).split(",");
  const wrong = principals.map(principalProblem).find((problem) => problem !== null);
  if (wrong !== undefined) return wrong!;
  const bare = parseKeyLine(rest);
  if (bare !== null) return { principals, key: bare, ...NO_OPTIONS, line };
  const [options, after] = splitWord(rest);
  const key = parseKeyLine(after);
  if (key === null) return "the key is not of a kind we know";
  const read = parseOptions(options);
  return typeof read === "string" ? read : { principals, key, ...read, line };
}

/** Why nobody is meant by these words; null when somebody is. */
export function principalProblem(principal: string): string | null {
  if (principal === "" || principal.length > 256) return "a principal is empty or too long";
  if (/[*?!]/.test(principal)) return `"${principal}" has a wildcard, so it names nobody`;
  if (!/^[\x21-\x7e]+$/.test(principal)) return "a principal has letters that look like others, or none at all";
  return /["'\\,]/.test(principal) ? "a principal has quotes, commas or backslashes" : null;
}

/** The first word, double quotes respected, and what follows it. */
function splitWord(text: string): [string, string] {
  const word = /^(?:"[^"]*"|[^ \t"])+/.exec(text)?.[0] ?? "";
  return [word, trim(text.slice(word.length))];
}

/** Without blanks in front, as SSH knows them: JavaScript's own also takes off what only looks like nothing. */
const trim = (text: string): string => text.replace(/^[ \t]+/, "");

const unquoted = (word: string): string => (/^"[^"]*"$/.test(word) ? word.slice(1, -1) : word);

type Options = Pick<TrustLine, "namespaces" | "validAfter" | "validBefore">;
const NO_OPTIONS: Options = { namespaces: null, validAfter: null, validBefore: null };

function parseOptions(text: string): Options | string {
  let read: Options = NO_OPTIONS;
  const seen = new Set<string>();
  for (const option of text.match(/(?:"[^"]*"|[^,"])+/g) ?? []) {
    const [, name = "", value = ""] = /^([A-Za-z-]+)(?:="([^"]*)")?$/.exec(option) ?? [];
    const word = name.toLowerCase();
    if (seen.has(word)) return `the option ${word} is given twice`;
    seen.add(word);
    if (word === "cert-authority") return "certificates are not followed";
    if (word === "namespaces" && value !== "") read = { ...read, namespaces: value.split(",") };
    else if (word === "valid-after" || word === "valid-before") {
      const time = parseTime(value);
      if (time === null) return `${word} is not a time such as 20260314 or 202603141000Z`;
      read = { ...read, [word === "valid-after" ? "validAfter" : "validBefore"]: time };
    } else return `the option "${option.slice(0, 40)}" is not known`;
  }
  return read;
}

/** YYYYMMDD[HHMM[SS]][Z], in the machine's own time zone unless it ends in Z, as OpenSSH reads it. */
function parseTime(text: string): Date | null {
  const match = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as number[];
  const parts = [year!, month! - 1, day!, hour!, minute!, second!] as const;
  const time = match[7] === "Z" ? new Date(Date.UTC(...parts)) : new Date(...parts);
  const real = match[7] === "Z" ? time.getUTCDate() === day : time.getDate() === day;
  return real && month! >= 1 && month! <= 12 && hour! < 24 && minute! < 60 && second! < 60 ? time : null;
}

const twoDigits = (value: number) => String(value).padStart(2, "0");

/** A time as allowed_signers writes it, in UTC. */
export function formatTime(time: Date): string {
  const date = [time.getUTCFullYear(), twoDigits(time.getUTCMonth() + 1), twoDigits(time.getUTCDate())];
  const clock = [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()].map(twoDigits);
  return `${date.join("")}${clock.join("")}Z`;
}

export function formatTrustLine({
  principals,
  key,
  namespaces,
  validAfter,
  validBefore,
}: Omit<TrustLine, "line">): string {
  const options = [
    ...(namespaces === null ? [] : [`namespaces="${namespaces.join(",")}"`]),
    ...(validAfter === null ? [] : [`valid-after="${formatTime(validAfter)}"`]),
    ...(validBefore === null ? [] : [`valid-before="${formatTime(validBefore)}"`]),
  ];
  return [principals.join(","), ...(options.length === 0 ? [] : [options.join(",")]), keyLine(key)].join(" ");
}

export type KeyStanding =
  | { readonly trusted: true; readonly principals: readonly string[] }
  | { readonly trusted: false; readonly why: string };

/** Whose key this is at a time. A revoked key is nobody's, at any time. */
export function keyStanding(key: SshKey, trust: Trust, namespace: string, at: Date): KeyStanding {
  const own = fingerprint(key);
  if (trust.revoked.has(own)) return { trusted: false, why: "the key was revoked" };
  const named = trust.lines.filter((line) => line.key.blob.equals(key.blob));
  if (named.length === 0) return { trusted: false, why: "nobody you trust has this key" };
  const problems = named.map((line) => lineProblem(line, namespace, at));
  const good = named.filter((_, index) => problems[index] === null);
  if (good.length === 0) return { trusted: false, why: problems.find((problem) => problem !== null)! };
  return { trusted: true, principals: [...new Set(good.flatMap(({ principals }) => principals))] };
}

function lineProblem({ namespaces, validAfter, validBefore }: TrustLine, namespace: string, at: Date): string | null {
  if (namespaces !== null && !isListed(namespace, namespaces)) {
    return `the key is trusted for ${namespaces.join(", ")} only`;
  }
  if (validAfter !== null && at < validAfter) return `the key is valid only after ${validAfter.toISOString()}`;
  if (validBefore !== null && at >= validBefore) return `the key was valid only before ${validBefore.toISOString()}`;
  return null;
}

/** A list of patterns as SSH reads it: what matches one with a `!` in front is out, whatever else it matches. */
function isListed(text: string, patterns: readonly string[]): boolean {
  const [out, listed] = [true, false].map((isOut) => patterns.filter((pattern) => pattern.startsWith("!") === isOut));
  return (
    !out!.some((pattern) => matchesPattern(text, pattern.slice(1))) &&
    listed!.some((pattern) => matchesPattern(text, pattern))
  );
}

/** `*` and `?`, as SSH reads patterns; everything else stands for itself. */
export function matchesPattern(text: string, pattern: string): boolean {
  // Two pointers and one step back: no pattern, however many stars it has, costs more than length × length.
  let [at, mark, star] = [0, 0, -1];
  let place = 0;
  while (at < text.length) {
    if (place < pattern.length && (pattern[place] === "?" || (pattern[place] === text[at] && pattern[place] !== "*"))) {
      at += 1;
      place += 1;
    } else if (pattern[place] === "*") {
      star = place;
      mark = at;
      place += 1;
    } else if (star >= 0) {
      place = star + 1;
      mark += 1;
      at = mark;
    } else return false;
  }
  while (pattern[place] === "*") place += 1;
  return place === pattern.length;
}
