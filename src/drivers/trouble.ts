// Why a session ended without having done its work, when the work is not to blame: its login was refused, its vendor limits
// or is overloaded, the way there is broken, or the session it should continue is gone. Pure: a program's own words about its
// error in, a kind or null out. Words of the agent never come here.

export const TROUBLES = ["login", "limit", "overload", "transport", "session"] as const;
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
  readonly retryAfterMs?: number | undefined;
  readonly now?: Date;
}

/** null: nothing known stands in the way, so it is about the work. */
export function troubleOf({ status, words, retryAfterMs, now = new Date() }: Complaint): Trouble | null {
  const kind = kindOfStatus(status ?? statusIn(words)) ?? kindOfWords(words);
  if (kind === null) return null;
  const wait = retryAfterMs ?? (kind === "login" || kind === "session" ? undefined : waitIn(words, now));
  return { kind, ...(wait === undefined ? {} : { retryAfterMs: Math.max(0, wait) }) };
}

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
  if (status === 408) return "transport";
  return status >= 500 && status < 600 ? "overload" : null;
}

/** `unexpected status 401 Unauthorized`, `API Error: 529`, `last status: 429`, `(429)`. */
function statusIn(words: string): number | undefined {
  const found = /(?:\bstatus(?: code)?:? ?|\bAPI Error: |\bHTTP(?:\/[\d.]+)? |\()(\d{3})\b/i.exec(words)?.[1];
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
    /\boverloaded\b|\bhigh demand\b|\bat capacity\b|\bserver_is_overloaded\b|\binternal server error\b|\bbad gateway\b|\bservice unavailable\b|\bgateway timeout\b/i,
  ],
  [
    "login",
    /\bunauthori[sz]ed\b|\bauthenticat\w*\b|\bnot (?:logged|signed) in\b|\b(?:log|sign) ?in again\b|\bplease (?:run )?\/?(?:log|sign)[ -]?in\b|\binvalid[_ ](?:api[_ ]key|grant|token|x-api-key)\b|\bapi key\b.{0,30}\b(?:missing|invalid|not)\b|\brefresh token\b|\btoken (?:has |was |is )?(?:expired|revoked|invalid)/i,
  ],
  [
    "transport",
    /\bdisconnect\w*\b|\bconnection\b|\bECONN\w+|\bENOTFOUND\b|\bEAI_AGAIN\b|\bETIMEDOUT\b|\bEPIPE\b|\bnetwork\b|\bsocket\b|\bstream (?:was )?(?:closed|ended)\b|\btimed? ?out\b|\bfetch failed\b|\bcertificate\b|\bTLS\b|\bdns\b|\bJSON parse\b|\bparse error\b|\bunexpected token\b|\bdecod(?:e|ing)\b|\binvalid json\b|\bunable to connect\b/i,
  ],
];

const kindOfWords = (words: string): TroubleKind | null => WORDS.find(([, sign]) => sign.test(words))?.[0] ?? null;

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;
const PIECE = /(\d{1,6}(?:\.\d{1,3})?) ?(d|h|m|s)(?:ays?|ours?|rs?|inutes?|ins?|econds?|ecs?)?\b/gi;

/** `try again in 2 hours 5 minutes`, `try again at 9:10 PM`, `resets 3pm`: how long that is from now. */
export function waitIn(words: string, now: Date): number | undefined {
  const text = words.slice(0, 2_000);
  const span =
    /\b(?:again|retry|resets?|wait)\b[^.\d]{0,20}\b(?:in|after|for) ((?:[\d.]+ ?[a-z]+[ ,]*(?:and )?){1,4})/i.exec(
      text,
    )?.[1];
  const pieces = [...(span ?? "").matchAll(PIECE)];
  if (pieces.length > 0) {
    return pieces.reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit!.toLowerCase() as keyof typeof UNITS], 0);
  }
  const dated = /\bagain at ([A-Z][a-z]{2} \d{1,2})(?:st|nd|rd|th)?, (\d{4}) (\d{1,2}:\d{2} ?[AP]M)/.exec(text);
  if (dated !== null) {
    const at = Date.parse(`${dated[1]}, ${dated[2]} ${dated[3]}`);
    return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
  }
  return untilClock(/\b(?:again at|resets?(?: at)?) (\d{1,2})(?::(\d{2}))? ?([ap])\.?m/i.exec(text), now);
}

/** Until the clock on the wall shows it next. */
function untilClock(found: RegExpExecArray | null, now: Date): number | undefined {
  if (found === null) return undefined;
  const hours = (Number(found[1]) % 12) + (found[3]!.toLowerCase() === "p" ? 12 : 0);
  const then = new Date(now);
  then.setHours(hours, Number(found[2] ?? 0), 0, 0);
  // A minute that is just over means now.
  if (then.getTime() < now.getTime() - 60_000) then.setDate(then.getDate() + 1);
  return Math.max(0, then.getTime() - now.getTime());
}
