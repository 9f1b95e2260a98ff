// Whether one use of a credential is allowed. Pure but for the meter, which counts.
import { expiryState } from "../vault/index.js";
import { readPath } from "./path-rules.js";
import type { Limits, Policy } from "./policy.js";

/** Why something is not done: a status and words an agent can act on. */
export class Refused extends Error {
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status = 403, retryAfterMs }: { status?: number; retryAfterMs?: number } = {}) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

interface HttpQuestion {
  readonly method: string;
  /** Below the base, as it was written; begins with a slash. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

const SAFE = ["GET", "HEAD", "OPTIONS"];
const KNOWN = [...SAFE, "POST", "PUT", "PATCH", "DELETE"];

/** A server may obey these instead of what stands in the first line. */
const STEERING =
  /^(?:x-http-method(?:-override)?|x-method-override|x-http-path-override|x-original-(?:url|uri|path|host|method)|x-rewrite-url|x-override-url|x-forwarded-(?:host|uri|prefix|server|path|method)|forwarded|x-host)$/;

/** Many servers take `_` in a header's name for `-`. */
export const plainName = (header: string): string => header.replaceAll("_", "-");

const steeringIn = (headers: HttpQuestion["headers"]): string | undefined =>
  Object.keys(headers).find((header) => STEERING.test(plainName(header)));

/** Throws Refused. */
export function judgeHttp({ name, limits }: Policy, { method, path, query, headers }: HttpQuestion): void {
  if (!KNOWN.includes(method)) throw new Refused(`${method} is no method that credential "${name}" is used with`);
  const steering = steeringIn(headers);
  if (steering !== undefined) throw new Refused(`header ${steering} could make the request another one: leave it out`);
  if (headers.upgrade !== undefined) throw new Refused("an upgraded connection cannot be watched: use plain requests");
  const read = readPath(path);
  if ("why" in read) throw new Refused(read.why);
  if (limits.readOnly && !SAFE.includes(method))
    throw new Refused(`credential "${name}" may only read: ${SAFE.join(", ")}, not ${method}`);
  if (limits.methods !== null && !limits.methods.includes(method))
    throw new Refused(`credential "${name}" allows ${words(limits.methods)}, not ${method}`);
  if (limitsMethods(limits)) assertReadable(query, headers);
  if (limits.paths !== null && !limits.paths.some((rule) => rule.fits(read.segments)))
    throw new Refused(`credential "${name}" allows the paths ${words(limits.paths.map(({ text }) => text))}`);
  if (limits.endpoints === null) return;
  const fitting = limits.endpoints.filter((endpoint) => endpoint.path.fits(read.segments));
  if (fitting.length === 0)
    throw new Refused(
      `credential "${name}" is for what apis/endpoints.json declares: ${words(limits.endpoints.map((one) => `${one.method} ${one.path.text}`))}`,
    );
  // A HEAD is a GET without its body.
  if (!fitting.some((one) => one.method === method || (one.method === "GET" && method === "HEAD")))
    throw new Refused(
      `apis/endpoints.json declares ${words(fitting.map((one) => one.method))} for this path, not ${method}`,
    );
}

/** Whether a POST that means something else would matter. */
export const limitsMethods = ({ readOnly, methods, endpoints }: Limits): boolean =>
  readOnly || methods !== null || endpoints !== null;

/** Throws Refused where a method could stand that is not the one that was judged, or could not be seen. */
function assertReadable(query: string, headers: HttpQuestion["headers"]): void {
  if (METHOD_FIELD.test(query)) throw namesMethod();
  const [encoding = "identity", type = ""] = [headers["content-encoding"], headers["content-type"]].map(String);
  if (headers["content-encoding"] !== undefined && !/^identity$/i.test(encoding))
    throw new Refused("a compressed body cannot be looked into: send it as it is");
  const [, charset = "utf-8"] = /charset\s*=\s*["']?([^\s"';]+)/i.exec(type) ?? [];
  if (!/^(?:utf-?8|us-ascii|iso-8859-\d+|windows-125\d)$/i.test(charset))
    throw new Refused(`a body in ${charset} cannot be looked into: send it as UTF-8`);
}

export const namesMethod = (): Refused => new Refused("_method could make the request another one: leave it out");

/** Each letter as it is, in percent signs, or as JSON escapes it. */
const spellings = (letter: string): string[] => {
  const hex = letter.charCodeAt(0).toString(16);
  return [letter, `%${hex}`, `\\u00${hex}`];
};
/** A field `_method` of a form or a JSON object. PHP takes a dot for the `_`. */
const METHOD_LETTERS = [["_", "."].flatMap(spellings), ...[..."method"].map(spellings)];

const anyOf = (writings: readonly string[]): string =>
  `(?:${writings.map((text) => text.replace(/[\\.]/g, "\\$&")).join("|")})`;

/** PHP passes over spaces before it. */
const METHOD_FIELD = new RegExp(
  `(?:^|[^A-Za-z0-9_%]|%(?:20|09|0a|0d|26|3b))${METHOD_LETTERS.map(anyOf).join("")}(?:["'=;&\\s\\[:]|%(?:3d|5b)|$)`,
  "i",
);

/** No spelling of it is longer. */
const METHOD_FIELD_BYTES = 64;

/** Every four bytes that stand in a spelling of the field, in lower case: the shortest has seven, and so an aligned four. */
const LOWER = 0x20202020;
const METHOD_FOURS = new Set(
  METHOD_LETTERS.flatMap((writings, letter) =>
    writings.flatMap((text) =>
      [...text].flatMap((_, from) =>
        beginnings(letter + 1, 4 - (text.length - from)).map((rest) => (text.slice(from) + rest).slice(0, 4)),
      ),
    ),
  )
    .filter(({ length }) => length === 4)
    .map((four) => new Int32Array(Uint8Array.from(four, (one) => one.charCodeAt(0)).buffer)[0]! | LOWER),
);

/** What the field may go on with from one of its letters: so many bytes of every spelling, or more. */
function beginnings(letter: number, length: number): string[] {
  const writings = METHOD_LETTERS[letter];
  if (length <= 0 || writings === undefined) return [""];
  return writings.flatMap((text) => beginnings(letter + 1, length - text.length).map((rest) => text + rest));
}

/** Seldom met by anything else. */
const FOUR_BITS = 17;
const hashOf = (four: number): number => Math.imul(four, 0x9e3779b1) >>> (32 - FOUR_BITS);
const METHOD_BITS = new Int32Array(2 ** (FOUR_BITS - 5));
for (const four of METHOD_FOURS) METHOD_BITS[hashOf(four) >>> 5]! |= 1 << hashOf(four);

/** Looks for the field in a body while it goes by, whatever pieces it comes in. */
export class MethodWatch {
  #end = "";
  /** What stands for the bytes before the end that is kept: none at first, then something that begins no field. */
  #before = "";

  /** Throws Refused before the piece that tells it is sent. */
  push(piece: Buffer): void {
    const head = piece.toString("latin1", 0, METHOD_FIELD_BYTES);
    // The end of a piece is not the end of the body.
    if (METHOD_FIELD.test(`${this.#before}${this.#end}${head}\u00ff`)) throw namesMethod();
    if (piece.length > METHOD_FIELD_BYTES) this.#look(piece);
    const end = this.#end + piece.toString("latin1", Math.max(0, piece.length - METHOD_FIELD_BYTES));
    if (piece.length + this.#end.length > METHOD_FIELD_BYTES) this.#before = "a";
    this.#end = end.slice(-METHOD_FIELD_BYTES);
  }

  end(): void {
    if (METHOD_FIELD.test(`${this.#before}${this.#end}`)) throw namesMethod();
  }

  #look(piece: Buffer): void {
    const start = -piece.byteOffset & 3;
    const fours = new Int32Array(piece.buffer, piece.byteOffset + start, (piece.length - start) >> 2);
    for (let index = 0; index < fours.length; index += 1) {
      const bit = hashOf(fours[index]! | LOWER);
      if (((METHOD_BITS[bit >>> 5]! >>> bit) & 1) === 0) continue;
      const at = start + index * 4;
      const from = Math.max(0, at - METHOD_FIELD_BYTES);
      const around = piece.toString("latin1", from, at + METHOD_FIELD_BYTES);
      // What is cut off before it is no beginning of the body; the beginning of the piece was looked at with what came before.
      if (METHOD_FIELD.test(`a${around}\u00ff`)) throw namesMethod();
    }
  }
}

/** What a repository's protocol asks for; everything else below the address is not git. */
export function judgeGit({ name, limits }: Policy, { method, path, query, headers }: HttpQuestion): void {
  const steering = steeringIn(headers);
  if (steering !== undefined) throw new Refused(`header ${steering} could make the request another one: leave it out`);
  const asked = `${method} ${path}${path.endsWith("/info/refs") ? `?${query}` : ""}`;
  const pulls = ["GET /info/refs?service=git-upload-pack", "POST /git-upload-pack"];
  const pushes = ["GET /info/refs?service=git-receive-pack", "POST /git-receive-pack"];
  if (pulls.includes(asked)) return;
  if (!pushes.includes(asked)) throw new Refused(`credential "${name}" is for git fetch and push of one repository`);
  if (limits.readOnly) throw new Refused(`credential "${name}" may only fetch, not push`);
}

/** What of a credential was used so far, for all who use it. */
export class Meter {
  readonly #policy: Policy;
  readonly #now: () => Date;
  readonly #times: number[] = [];
  #calls = 0;
  #bytes = 0;

  constructor(policy: Policy, now: () => Date) {
    this.#policy = policy;
    this.#now = now;
  }

  /** Counts one use, or throws Refused and counts nothing. */
  take(role: string | null): void {
    const { name, limits } = this.#policy;
    const now = this.#now();
    assertTime(this.#policy, now);
    if (limits.roles !== null && role !== null && !limits.roles.includes(role))
      throw new Refused(`credential "${name}" is for ${words(limits.roles)}, not for ${role}`);
    if (limits.calls !== null && this.#calls >= limits.calls)
      throw new Refused(`credential "${name}" allows ${limits.calls} uses in a run, and all of them are spent`);
    if (limits.bytes !== null && this.#bytes >= limits.bytes) throw this.#full();
    this.#rate(now.getTime());
    this.#calls += 1;
  }

  /** Adds what went through, or throws Refused when that is too much. */
  add(bytes: number): void {
    this.#bytes += bytes;
    const { bytes: most } = this.#policy.limits;
    if (most !== null && this.#bytes > most) throw this.#full();
  }

  #full(): Refused {
    const { name, limits } = this.#policy;
    return new Refused(`credential "${name}" allows ${limits.bytes} bytes in a run, and all of them are spent`);
  }

  #rate(now: number): void {
    const { name, limits } = this.#policy;
    if (limits.rate === null) return;
    const { calls, perMs } = limits.rate;
    while (this.#times.length > 0 && this.#times[0]! <= now - perMs) this.#times.shift();
    if (this.#times.length >= calls) {
      const retryAfterMs = calls === 0 ? perMs : this.#times[0]! + perMs - now;
      throw new Refused(`credential "${name}" allows ${calls} uses per ${perMs / 1000} s: try again later`, {
        status: 429,
        retryAfterMs,
      });
    }
    this.#times.push(now);
  }
}

/** Throws Refused outside the times a credential is good for. */
export function assertTime({ name, limits }: Policy, now: Date): void {
  const state = expiryState(limits.expiresAt, now);
  if (state === "expired" || state === "unreadable")
    throw new Refused(`credential "${name}" ${state === "expired" ? "has expired" : "has an expiry nobody can read"}`);
  if (limits.notBefore !== null && now.getTime() < Date.parse(limits.notBefore))
    throw new Refused(`credential "${name}" is not valid before ${limits.notBefore}`);
  if (limits.window === null) return;
  const { from, to } = limits.window;
  const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
  const inside = from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  if (!inside) throw new Refused(`credential "${name}" is good from ${clock(from)} to ${clock(to)} UTC`);
}

const clock = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;

const words = (items: readonly string[]): string =>
  items.length > 8 ? `${items.slice(0, 8).join(", ")} and ${items.length - 8} more` : items.join(", ") || "nothing";
