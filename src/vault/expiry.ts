// When a credential stops being handed out. Dates that cannot be read count as expired: nobody knows what they meant.
import { NutError } from "../errors.js";

export const EXPIRY_STATES = ["valid", "expiring_soon", "expired", "no_expiry", "unreadable", "revoked"] as const;
export type ExpiryState = (typeof EXPIRY_STATES)[number];

/** Less than a week: what was just given a week is not near. */
export const SOON_MS = (7 * 24 - 1) * 3_600_000;

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Milliseconds, or null when the text is not an RFC 3339 time. */
export function parseTime(text: string): number | null {
  if (!RFC_3339.test(text)) return null;
  const time = Date.parse(text.toUpperCase());
  return Number.isNaN(time) ? null : time;
}

/** `2026-03-21T10:00:00Z`, `2026-03-21` (through the end of that day, UTC), `7d`, `12h`, `90m`, `2w`. */
export function parseExpiry(text: string, now: Date): string {
  const refuse = (why: string) =>
    new NutError("EXPIRY_INVALID", `"${text.slice(0, 60)}" ${why}`, {
      hint: "use 7d, 12h, 2030-01-31 or 2030-01-31T10:00:00Z",
    });
  const span = /^(\d{1,5})([mhdw])$/.exec(text);
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? parseTime(`${text}T23:59:59Z`) : null;
  const at = span !== null ? now.getTime() + Number(span[1]) * UNITS[span[2]!]! : (day ?? parseTime(text));
  // A day such as 2026-02-31 would silently become another one.
  if (at === null || (day !== null && !new Date(day).toISOString().startsWith(text))) throw refuse("is not a time");
  if (at <= now.getTime()) throw refuse("is not in the future");
  return new Date(at).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** The earliest of the times that are set. An unreadable one wins over all: it is reported, and nothing is handed out. */
export function earliestExpiry(times: readonly (string | undefined)[]): string | null {
  const set = times.filter((time) => time !== undefined);
  const unreadable = set.find((time) => parseTime(time) === null);
  if (unreadable !== undefined) return unreadable;
  return set.reduce<string | null>((a, b) => (a === null || parseTime(b)! < parseTime(a)! ? b : a), null);
}

export function expiryState(expiresAt: string | null, now: Date): Exclude<ExpiryState, "revoked"> {
  if (expiresAt === null) return "no_expiry";
  const at = parseTime(expiresAt);
  if (at === null) return "unreadable";
  const left = at - now.getTime();
  return left <= 0 ? "expired" : left <= SOON_MS ? "expiring_soon" : "valid";
}

export function wholeSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d{3}Z$/, "Z");
}
