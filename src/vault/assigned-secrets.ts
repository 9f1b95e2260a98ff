// Secrets without a shape of their own, known by the name they are given to: `FASTLY_API_TOKEN=…`, `"client_secret": "…"`.
// With a provider's name it is a finding, with a general one a warning, and in both cases only if the value looks drawn.
import { bytesLike, skip } from "./byte-runs.js";
import type { OwnRule } from "./own-leak-rules.js";

/** Nobody's secret: what documents and examples write where one belongs. */
export const PLACEHOLDER =
  /^(?:[$<{%*.]|x{3}|pass|pwd|secret|user|guest|admin|change|your|example|sample|test|dummy|fake|mock|foo|hunter|root|redis|abcd|0123|1234|process\.|env\.|var\.)/i;

const PROVIDERS = [
  ...["adyen", "airtable", "algolia", "alibaba", "aliyun", "amplitude", "asana", "assemblyai", "auth0", "azure"],
  ...["binance", "bitbucket", "braintree", "bugsnag", "cloudflare", "codecov", "cohere", "coinbase", "contentful"],
  ...["datadog", "dd_api", "dd_app", "deepgram", "deepl", "deepseek", "digitalocean", "discord", "dropbox"],
  ...["elastic", "elevenlabs", "etherscan", "facebook", "fastly", "firebase", "gemini", "github", "gitlab", "gitea"],
  ...["hetzner", "heroku", "honeycomb", "huggingface", "ibm", "infura", "intercom", "jira", "klaviyo", "kraken"],
  ...["launchdarkly", "linkedin", "linode", "loggly", "mailchimp", "mailgun", "mailjet", "mandrill", "messagebird"],
  ...[
    "mistral",
    "minio",
    "mixpanel",
    "mollie",
    "nexmo",
    "ngrok",
    "npm",
    "okta",
    "openai",
    "openweather",
    "opsgenie",
    "ovh",
  ],
  ...["pagerduty", "paypal", "paystack", "plaid", "plivo", "postmark", "pusher", "railway", "razorpay", "recurly"],
  ...["resend", "rollbar", "scaleway", "segment", "sendgrid", "sentry", "serpapi", "shopify", "slack", "snowflake"],
  ...[
    "snyk",
    "sonar",
    "sparkpost",
    "splunk",
    "spotify",
    "statsig",
    "stripe",
    "sumo",
    "supabase",
    "telegram",
    "travis",
    "trello",
  ],
  ...["twilio", "twitch", "twitter", "typesense", "upstash", "vercel", "vonage", "vultr", "wandb", "yandex"],
  ...[
    "zendesk",
    "zoom",
    "together",
    "fireworks",
    "tavily",
    "nvidia",
    "voyage",
    "firecrawl",
    "langfuse",
    "neon",
    "consul",
  ],
  ...[
    "infisical",
    "posthog",
    "cursor_api",
    "square",
    "hcloud",
    "forgejo",
    "databricks",
    "pinecone",
    "replicate",
    "groq",
  ],
];
const PROVIDER = new RegExp(`(?<![A-Za-z])(?:${PROVIDERS.join("|")})`, "i");
/** Names that say that everybody may know it, or that it is a sum and not a secret. */
const PUBLIC_NAME =
  /public|pub_?key|publishable|site_?key|cache|partition|sort_?key|hash|sha\d|digest|checksum|integrity|etag|next_?token|page_?token|cursor(?!_?api)|foreign|primary|idempotency|key_?(?:id|name|path|file|words?)|token_?(?:id|type|name|url|uri)|secret_?(?:id|name|arn)/i;

const WORDS = [
  "KEY",
  "TOKEN",
  "SECRET",
  "PASSW",
  "PWD",
  "_AUTH",
  "_PAT",
  "_key",
  "-key",
  "Key",
  "oken",
  "ecret",
  "assword",
];
/** The value is only looked at, since it may be an assignment itself: `line = "API_KEY=…"`. */
const SIGN_AND_VALUE = /(?:=>|:=|[=:])(?=\s{0,4}["'`]?(?:Bearer )?([\w\-./+~|:]{16,256}))/g;
const LONGEST_NAME = 61;
/** From a name's first letter to its sign: the name, a quote, a bracket and four blanks. */
const FARTHEST_SIGN = LONGEST_NAME + 6;
/** How much of the text around a word is looked at. */
const REACH = { before: 64, after: 360 };

/** Length, digits among letters, and how often letters turn into digits or change their case: words do so rarely. */
export function isDrawn(value: string, least = 16): boolean {
  if (value.length < least || PLACEHOLDER.test(value) || value.includes("://")) return false;
  if (!/[0-9]/.test(value) || !/[A-Za-z]/.test(value) || isWords(value)) return false;
  return entropy(value) >= (value.length < 20 ? 3.2 : 3) && turns(value) >= value.length * 0.25;
}

/** Words with something between them: `rotated-token-abc123`, `tab2.context.lookupSecret`. */
function isWords(value: string): boolean {
  const words = value
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => /^(?:[A-Z]?[a-z]{3,}|[A-Z]{3,}|[A-Za-z][a-z]+(?:[A-Z][a-z]+)+)$/.test(part));
  return words.join("").length * 5 > value.length * 2;
}

/** Bits a character, by how often each occurs. */
function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

function turns(value: string): number {
  let found = 0;
  for (let at = 1; at < value.length; at += 1) if (kindOf(value, at) !== kindOf(value, at - 1)) found += 1;
  return found;
}

function kindOf(value: string, at: number): 0 | 1 | 2 | 3 {
  const code = value.charCodeAt(at);
  if (code >= 48 && code <= 57) return 0;
  if (code >= 65 && code <= 90) return 1;
  return code >= 97 && code <= 122 ? 2 : 3;
}

/** Where a value that looks drawn is given to a name that passes `isMeant`. */
function assigned(id: string, isMeant: (name: string) => boolean): OwnRule {
  return {
    id,
    keywords: WORDS.map((text) => [text, assignmentFollows]),
    reach: REACH,
    find: (text, at) =>
      assignments(text, at)
        .filter(({ name, value }) => isMeant(name) && !PUBLIC_NAME.test(name) && isDrawn(value))
        .map(({ start, end }) => [start, end]),
  };
}

interface Assignment {
  readonly start: number;
  /** Where the sign ends. */
  readonly end: number;
  readonly name: string;
  readonly value: string;
}

/**
 * A sign with a long value after it is rare, so names are looked for from there: the other way every word of a text would be tried.
 * With `at`, which is no sign, only those that hold this place.
 */
export function assignments(text: string, at?: number): Assignment[] {
  const found: Assignment[] = [];
  SIGN_AND_VALUE.lastIndex = at ?? 0;
  for (let match = SIGN_AND_VALUE.exec(text); match !== null; match = SIGN_AND_VALUE.exec(text)) {
    const { index, 0: sign, 1: value = "" } = match;
    if (at !== undefined && index - at > FARTHEST_SIGN) break;
    const name = nameBefore(text, index);
    if (name !== null && (at === undefined || name.start <= at))
      found.push({ ...name, end: index + sign.length, value });
  }
  return found;
}

/** A name, a quote or a bracket that closes it, and blanks, read backwards: each letter is looked at once. */
function nameBefore(text: string, sign: number): Pick<Assignment, "start" | "name"> | null {
  let end = sign;
  while (end > 0 && sign - end < 4 && SPACE[text.charCodeAt(end - 1)] === 1) end -= 1;
  if (text[end - 1] === "]") end -= 1;
  if (QUOTES.has(text[end - 1]!)) end -= 1;
  let start = end;
  while (start > 0 && end - start < LONGEST_NAME && NAME[text.charCodeAt(start - 1)] === 1) start -= 1;
  while (start < end && LETTER[text.charCodeAt(start)] !== 1) start += 1;
  return start === end ? null : { start, name: text.slice(start, end) };
}

const QUOTES = new Set(['"', "'", "`"]);

const SAYS_SECRET = /key|token|secret|passw|pwd|auth|_pat$/i;
const SAYS_PRIVATE =
  /(?:api|secret|access|private|auth|signing|encryption|master|service|admin|webhook|write)[_.-]?key|secret|passw|pwd|(?:access|auth|api|bearer|refresh|bot|deploy|personal|id|session)[_.-]?token|_token$|^token$/i;

/** A password may hold anything and be shorter than a token, so it is looked for where it must end: a quote, a tag, a line. */
const QUOTED =
  /(?:pass(?:word|wd|phrase)?|pwd|secret(?:_?key)?|token)["']?[\])]?\s{0,4}(?:=>|[=:,])\s{0,4}(?:"([^"\s]{10,80})"|'([^'\s]{10,80})')/gi;
const BARE = /(?:password|passwd|pwd)\s{0,2}[=:]\s{0,4}([^\s"'`<>;,(){}[\]$]{10,80})(?=[<;]|\r?$)/gim;
/** Between two tags, a drawn word of any length: no rule for assignments looks there. */
const TAGGED = /<(?:password|passwd|secret|token|apikey)>\s{0,4}([^\s"'`<>;,(){}[\]$]{10,256})(?=\s{0,4}<\/)/gi;
const PASSWORD_WORDS = ["assword", "ASSWORD", "asswd", "PWD", "pwd", "ECRET", "ecret", "oken"];

/** Three kinds of characters, often changing: nobody writes so by hand. */
function isPassword(value: string): boolean {
  // Longer ones without a sign of their own are what the rules above look for.
  if (value.length >= 16 && /^[\w\-./+~|:]+$/.test(value)) return false;
  if (value.length < 10 || PLACEHOLDER.test(value) || /[({]|::|=>|\.\w+\.|\/\//.test(value) || isWords(value))
    return false;
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  return kinds >= 3 && /[0-9]/.test(value) && entropy(value) >= 3 && turns(value) >= value.length * 0.3;
}

export const ASSIGNED_RULES: readonly OwnRule[] = [
  {
    id: "assigned-password",
    keywords: PASSWORD_WORDS.map(
      (text) => [text, (bytes, from) => passwordNear(bytes, from - text.length, from)] as const,
    ),
    reach: REACH,
    find: (text) => {
      const [quoted, bare, tagged] = [QUOTED, BARE, TAGGED].map((pattern) => [...text.matchAll(pattern)]);
      const value = ([, ...values]: RegExpExecArray) => values.find((one) => one !== undefined) ?? "";
      const found = [
        ...[...quoted!, ...bare!].filter((match) => isPassword(value(match))),
        ...tagged!.filter((match) => isPassword(value(match)) || isDrawn(value(match))),
      ];
      return found.map(({ index, 0: all }) => [index, index + all.length]);
    },
    warns: true,
  },
  assigned("assigned-token", (name) => PROVIDER.test(name) && SAYS_SECRET.test(name)),
  {
    ...assigned("assigned-secret", (name) => !PROVIDER.test(name) && SAYS_PRIVATE.test(name)),
    warns: true,
  },
];

/** Whether a name ends here and sixteen characters of a value follow: nearly all uses of these words fail it at once. */
function assignmentFollows(bytes: Uint8Array, from: number): boolean {
  let at = skip(bytes, from, 24, NAME);
  at = skip(bytes, at, 2, CLOSING);
  at = skip(bytes, at, 4, BLANK);
  const signs = skip(bytes, at, 2, SIGN);
  if (signs === at) return false;
  at = skip(bytes, signs, 4, BLANK);
  at = skip(bytes, at, 1, CLOSING);
  if (bytes[at] === 0x42 && bytes[at + 6] === 0x20) at += 7;
  return skip(bytes, at, 16, VALUE) === at + 16;
}

/**
 * Whether the word from `at` to `from` may stand in what the rule for passwords finds: as the name, with a sign and ten characters
 * after it, or within the value, after a sign. A value has no blanks and has a digit; nearly all uses of these words fail it at once.
 */
export function passwordNear(bytes: Uint8Array, at: number, from: number): boolean {
  return valueFollows(bytes, from) || isInValue(bytes, at);
}

function valueFollows(bytes: Uint8Array, from: number): boolean {
  // `secret_key` goes on after the word.
  let at = skip(bytes, from, 4, NAME);
  at = skip(bytes, at, 2, CLOSING_WORD);
  at = skip(bytes, at, 4, SPACE);
  if (at >= bytes.length || BEFORE_VALUE[bytes[at]!] === 0) return false;
  return isValueAt(bytes, at + 1) || (bytes[at + 1] === ARROW && isValueAt(bytes, at + 2));
}

function isValueAt(bytes: Uint8Array, afterSign: number): boolean {
  const at = skip(bytes, skip(bytes, afterSign, 4, SPACE), 1, CLOSING);
  const end = endOfRun(bytes, at, at + LONGEST_VALUE);
  return end - at >= SHORTEST_VALUE && hasDigit(bytes, at, end);
}

function isInValue(bytes: Uint8Array, at: number): boolean {
  const edge = Math.max(0, at - REACH.before);
  let start = at;
  let hasSign = false;
  while (start > edge && SPACE[bytes[start - 1]!] === 0) {
    start -= 1;
    hasSign ||= BEFORE_VALUE[bytes[start]!] === 1;
  }
  let before = start;
  while (before > edge && start - before < 4 && SPACE[bytes[before - 1]!] === 1) before -= 1;
  if (!hasSign && (before === edge || BEFORE_VALUE[bytes[before - 1]!] === 0)) return false;
  const end = endOfRun(bytes, at, at + REACH.after);
  return end - start >= SHORTEST_VALUE && hasDigit(bytes, start, end);
}

const SHORTEST_VALUE = 10;
const LONGEST_VALUE = 256;

function endOfRun(bytes: Uint8Array, from: number, to: number): number {
  const end = Math.min(bytes.length, to);
  let at = from;
  while (at < end && SPACE[bytes[at]!] === 0) at += 1;
  return at;
}

function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) return true;
  return false;
}

const NAME = bytesLike(/[\w.-]/);
const LETTER = bytesLike(/[A-Za-z]/);
const CLOSING = bytesLike(/["'`\]]/);
const CLOSING_WORD = bytesLike(/["'\])]/);
const ARROW = 0x3e;
const BLANK = bytesLike(/[ \t]/);
const SPACE = bytesLike(/\s/);
const SIGN = bytesLike(/[=:>]/);
/** What may stand before a password: a sign, or the end of a tag. */
const BEFORE_VALUE = bytesLike(/[=:,>]/);
const VALUE = bytesLike(/[\w\-./+=~|:]/);
