// Why a session ended without having done its work, when the work is not to blame: its login was refused, its vendor limits
// or is overloaded, the way there is broken, the session it should continue is gone, or nobody has the model it asks for.
// Pure: a program's own words about its error in, a kind or null out. Words of the agent never come here.

export const TROUBLES = ["login", "limit", "overload", "transport", "session", "model"] as const;
export type TroubleKind = (typeof TROUBLES)[number];

export interface Trouble {
  readonly kind: TroubleKind;
  /** How long the vendor asks to be left alone, as far as it says. */
  readonly retryAfterMs?: number;
}

export interface Complaint {
  /** Of the vendor's answer, when the program tells. */
  readonly status?: number | undefined;
  readonly words: string;
  /** A page for people came in place of the vendor's answer, when the program tells that apart. */
  readonly isPage?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly now?: Date;
}

/** null: nothing known stands in the way, so it is about the work. */
export function troubleOf(complaint: Complaint): Trouble | null {
  const { status, retryAfterMs, now = new Date() } = complaint;
  const words = withoutColour(complaint.words);
  const answer = status ?? statusIn(words);
  if (isUnknownModel(answer, words)) return { kind: "model" };
  if (isInBetween(answer, complaint.isPage ?? PAGE.test(words))) return { kind: "transport" };
  const kind = kindOfStatus(answer) ?? kindOfWords(words);
  if (kind === null) return null;
  // It was read and refused: whatever its words speak of, the way there is whole.
  if (kind === "transport" && answer !== undefined && answer >= 400 && answer < 500 && kindOfStatus(answer) === null)
    return null;
  const wait = retryAfterMs ?? (kind === "login" || kind === "session" ? undefined : waitIn(words, now));
  return { kind, ...(wait === undefined ? {} : { retryAfterMs: Math.max(0, wait) }) };
}

/** No vendor answers in pages. A proxy does, whose 403 is about no login and whose 404 is about no work. */
const isInBetween = (status: number | undefined, isPage: boolean): boolean =>
  isPage && (status === 403 || kindOfStatus(status) === null);

const PAGE = /<!doctype html|<html[\s>]|\bblocked by a gateway or proxy\b/i;

/** A page in an error is not for a terminal: its title says what there is to say. */
export function withoutPage(words: string): string {
  return words.replace(/<(?:!doctype html|html[\s>]).*?(?:<\/html>|$)/is, (page) => {
    const title = /<title[^>]*>([^<]{1,200})/i.exec(page)?.[1]?.trim() ?? "";
    return title === "" ? "a page" : `a page, "${title}"`;
  });
}

const NO_MODEL =
  /\bmodel_not_found\b|\bissue with the selected model\b|\b(?:no such|unknown|invalid) model\b|\bmodel not found\b|\bmodels?\b(?!')\W{1,3}(?:[\w.:/@-]{1,100}\W{1,3})?(?:does not exist|is not (?:supported|found|available)|requires a newer version)\b/i;

/** Waiting brings no model about, and the next try asks for the same one. */
function isUnknownModel(status: number | undefined, words: string): boolean {
  if (status === 404 && /(?:^|: )model: \S+/i.test(words)) return true;
  return (status === undefined || [400, 403, 404, 422].includes(status)) && NO_MODEL.test(words);
}

/** What a program says in colour, in words alone. */
export const withoutColour = (text: string): string => text.replace(COLOUR, "");
const COLOUR = /\u001b\[[\d;:]*[A-Za-z]/g;

/** `retry-after` as it stands in an answer: seconds or a date. */
export function retryAfter(header: unknown, now = new Date()): number | undefined {
  if (typeof header !== "string" || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

function kindOfStatus(status: number | undefined): TroubleKind | null {
  if (status === undefined) return null;
  if (status === 401 || status === 403) return "login";
  if (status === 402 || status === 429) return "limit";
  // Nothing of the work is in these: no such place, a proxy that wants a login, too late, another call was faster, the wrong host, too early.
  if ([404, 405, 407, 408, 409, 410, 421, 425].includes(status)) return "transport";
  return status >= 500 && status < 600 ? "overload" : null;
}

/** `unexpected status 401 Unauthorized`, `API Error: 529`, `last status: 429`, `(429)`, `Internal error: 401 …`, `"code":403`. */
function statusIn(words: string): number | undefined {
  const found =
    /(?:\bstatus(?: code)?:? ?|\b(?:API|Internal) error: |\bHTTP(?:\/[\d.]+)? |"(?:code|status)": ?|\((?=\d{3}\)))(\d{3})\b/i.exec(
      words,
    )?.[1];
  return found === undefined ? undefined : Number(found);
}

/** In this order: a lost session is often said in words of the others. */
const WORDS: readonly (readonly [TroubleKind, RegExp])[] = [
  [
    "session",
    /\bno (?:previous )?(?:conversation|rollout|thread|session)s?\b.{0,40}\bfound\b|\bcannot continue a session\b|\b(?:session|thread|conversation) not found\b/i,
  ],
  [
    "limit",
    /\b(?:rate|usage|request|token)[ _-]?limit|\btoo many requests\b|\bquota\b|\bhit your\b.{0,20}\blimit\b|\blimit (?:was )?reached\b|\binsufficient[_ ](?:quota|credit|balance)|\bcredit balance\b|\bresource[_ ]exhausted\b/i,
  ],
  [
    "overload",
    /\boverloaded(?:\b|_)|\bhigh demand\b|\bat capacity\b|\bserver_is_overloaded\b|\binternal server error\b|\bbad gateway\b|\bservice unavailable\b|\bgateway timeout\b/i,
  ],
  [
    "login",
    /\bunauthori[sz]ed\b|\bto use \w+ with your \w+ plan\b|\bauthenticat\w*\b|\bnot (?:logged|signed) in\b|\b(?:log|sign) ?in again\b|\bplease (?:run )?\/?(?:log|sign)[ -]?in\b|\binvalid[_ ](?:api[_ ]key|grant|token|x-api-key)\b|\bapi key\b.{0,30}\b(?:missing|invalid|not)\b|\brefresh token\b|\btoken (?:has |was |is )?(?:expired|revoked|invalid)/i,
  ],
  [
    "transport",
    /\bdisconnect\w*\b|\bconnection\b|\bECONN\w+|\bENOTFOUND\b|\bEAI_AGAIN\b|\bETIMEDOUT\b|\bEPIPE\b|\bnetwork\b|\bsocket\b|\bstream (?:was )?(?:closed|ended)\b|\btimed? ?out(?:\b|_)|\bfetch failed\b|\bcertificate\b|\bTLS\b|\bdns\b|\bJSON parse\b|\bparse error\b|\bunexpected token\b|\bdecod(?:e|ing)\b|\binvalid json\b|\bunable to connect\b|\bincomplete json\b|(?:^|: )terminated$/i,
  ],
];

/** A conversation that grew too long for its model is nobody's limit. */
const TOO_LONG = /\bcontext[ _](?:window|length)\b|\bprompt is too long\b|\b(?:request|payload) too large\b/i;

/** Whether a conversation has no room left: nobody can go on in it. */
export const isTooLong = (words: string): boolean => TOO_LONG.test(withoutColour(words));

function kindOfWords(words: string): TroubleKind | null {
  const kind = WORDS.find(([, sign]) => sign.test(words))?.[0] ?? null;
  return kind === "limit" && TOO_LONG.test(words) ? null : kind;
}

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;
/** One after the other, with or without a space: `2 hours 5 minutes`, `6m0s`, `120ms`. */
const PIECE = /(\d{1,6}(?:\.\d{1,3})?) ?(ms|d|h|m|s)(?:ays?|ours?|rs?|inutes?|ins?|econds?|ecs?)?(?![a-z])/gi;

/** `try again in 2 hours 5 minutes`, `try again at 9:10 PM`, `resets 3pm`: how long that is from now. */
export function waitIn(words: string, now: Date): number | undefined {
  const text = words.slice(0, 2_000);
  const span =
    /\b(?:again|retry|resets?|wait)\b[^.\d]{0,20}\b(?:in|after|for) ((?:[\d.]+ ?[a-z]+[ ,]*(?:and )?){1,4})/i.exec(
      text,
    )?.[1];
  const pieces = [...(span ?? "").matchAll(PIECE)];
  if (pieces.length > 0) {
    const ms = pieces.reduce(
      (sum, [, n, unit]) => sum + Number(n) * UNITS[unit!.toLowerCase() as keyof typeof UNITS],
      0,
    );
    return Math.round(ms);
  }
  return untilMoment(text, now) ?? untilClock(text, now);
}

/** A moment nobody can mistake: `Mar 16th, 2026 12:00 PM`, `2026-03-16T12:00:00Z`, `limit reached|1773662400`. */
function untilMoment(text: string, now: Date): number | undefined {
  const dated = /\bagain at ([A-Z][a-z]{2} \d{1,2})(?:st|nd|rd|th)?, (\d{4}) (\d{1,2}:\d{2} ?[AP]M)/.exec(text);
  const exact = /\b(?:again (?:at|after)|resets?(?: at)?) (\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))/.exec(text);
  const counted = /\blimit reached\|(\d{10})\b/.exec(text);
  const at =
    dated !== null
      ? Date.parse(`${dated[1]}, ${dated[2]} ${dated[3]}`)
      : exact !== null
        ? Date.parse(exact[1]!)
        : counted !== null
          ? Number(counted[1]) * 1_000
          : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

const CLOCK =
  /\b(?:again at|resets?(?: at)?) (?:([A-Z][a-z]{2}) (\d{1,2}),? (?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\.?(?: \(([\w+/-]{1,40})\))?/i;
const MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec";
const DAY_MS = 86_400_000;

/** Until the clock on the wall shows it next: in the zone that is named, or here. */
function untilClock(text: string, now: Date): number | undefined {
  const found = CLOCK.exec(text);
  if (found === null) return undefined;
  const [, month, day, hour, minute = "0", half, zone] = found;
  const here = new Date(now.getTime() + offsetOf(zone, now));
  const hours = (Number(hour) % 12) + (half!.toLowerCase() === "p" ? 12 : 0);
  const at = (year: number, ofYear: number, ofMonth: number) =>
    Date.UTC(year, ofYear, ofMonth, hours, Number(minute)) - here.getTime();
  const year = here.getUTCFullYear();
  const index = MONTHS.indexOf(month?.toLowerCase() ?? "?") / 3;
  if (Number.isInteger(index) && index >= 0) {
    const ms = at(year, index, Number(day));
    return Math.max(0, ms < -180 * DAY_MS ? at(year + 1, index, Number(day)) : ms);
  }
  const ms = at(year, here.getUTCMonth(), here.getUTCDate());
  // A minute that is just over means now.
  return Math.max(0, ms < -60_000 ? ms + DAY_MS : ms);
}

/** How far the wall clock of a zone is ahead of UTC; that of this machine where none is named, or none that is known. */
function offsetOf(zone: string | undefined, now: Date): number {
  const local = -now.getTimezoneOffset() * 60_000;
  if (zone === undefined) return local;
  try {
    const name = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" })
      .formatToParts(now)
      .find(({ type }) => type === "timeZoneName")?.value;
    const [, sign, hours = "0", minutes = "0"] = /^GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name ?? "") ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  } catch {
    return local;
  }
}
