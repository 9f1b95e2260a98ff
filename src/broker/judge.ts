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
  /^(?:x-http-method(?:-override)?|x-method-override|x-original-(?:url|uri|method)|x-rewrite-url|x-override-url|x-forwarded-(?:host|uri|prefix|server|path|method)|forwarded|x-host)$/;

/** Throws Refused. */
export function judgeHttp({ name, limits }: Policy, { method, path, query, headers }: HttpQuestion): void {
  if (!KNOWN.includes(method)) throw new Refused(`${method} is no method that credential "${name}" is used with`);
  const steering = Object.keys(headers).find((header) => STEERING.test(header));
  if (steering !== undefined) throw new Refused(`header ${steering} could make the request another one: leave it out`);
  if (headers.upgrade !== undefined) throw new Refused("an upgraded connection cannot be watched: use plain requests");
  const read = readPath(path);
  if ("why" in read) throw new Refused(read.why);
  if (limits.readOnly && !SAFE.includes(method))
    throw new Refused(`credential "${name}" may only read: ${SAFE.join(", ")}, not ${method}`);
  if (limits.methods !== null && !limits.methods.includes(method))
    throw new Refused(`credential "${name}" allows ${words(limits.methods)}, not ${method}`);
  if (limitsMethods(limits) && /(?:^|&)_method=/i.test(decodedQuery(query)))
    throw new Refused("_method could make the request another one: leave it out");
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

function decodedQuery(query: string): string {
  try {
    return decodeURIComponent(query.replaceAll("+", " "));
  } catch {
    return query;
  }
}

/** What a repository's protocol asks for; everything else below the address is not git. */
export function judgeGit({ name, limits }: Policy, { method, path, query, headers }: HttpQuestion): void {
  const steering = Object.keys(headers).find((header) => STEERING.test(header));
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
