// The lines of a message that are its author's own words. What stands in a fence, a quotation or a comment is somebody
// else's text, and a reviewer must be able to show such text without saying it.

export interface SpokenLine {
  readonly text: string;
  /** It stands behind a fence or a quotation mark that nobody closed: a yes in it is not heard, a no is. */
  readonly doubtful: boolean;
}

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;
/** Tags whose content is shown as it is, and comments, which are not shown at all. */
const TAGS: readonly (readonly [open: RegExp, close: RegExp])[] = [
  [/<!--/, /-->/],
  [/<pre\b/i, /<\/pre\b/i],
  [/<code\b/i, /<\/code\b/i],
  [/<blockquote\b/i, /<\/blockquote\b/i],
  [/<q\b/i, /<\/q\b/i],
  [/<(?:del|s|strike)\b/i, /<\/(?:del|s|strike)\b/i],
  [
    /<(?:xmp|listing|textarea|template|script|style|samp|kbd|cite)\b/i,
    /<\/(?:xmp|listing|textarea|template|script|style|samp|kbd|cite)\b/i,
  ],
  [/^<<<DATA /, /^DATA .*>>>$/],
];

/** Every line that is spoken and not shown, in order. Takes time in proportion to the text. */
export function spokenLines(message: string): SpokenLine[] {
  const lines = message.split(/\r\n|[\n\r\u2028\u2029\u0085]/);
  const spoken: SpokenLine[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!;
    if (!/\S/.test(line)) {
      at += 1;
      continue;
    }
    const shown = shownFrom(line);
    if (shown?.kind !== "fence" && !/^\s*>/.test(line)) spoken.push({ text: line, doubtful: false });
    at += 1;
    if (shown === null) continue;
    const end = closing(lines, at, shown.isEnd);
    // Never closed: what follows may be shown or spoken, and nobody can tell. A quotation mark may be a stray one.
    if (end === null || shown.kind === "quotation") {
      for (const text of lines.slice(at, (end ?? lines.length) + 1)) spoken.push({ text, doubtful: true });
    }
    at = (end ?? lines.length) + 1;
  }
  return spoken;
}

interface Shown {
  readonly kind: "fence" | "tag" | "quotation";
  readonly isEnd: (line: string) => boolean;
}

/** What is shown from this line on; null when nothing is, or it ends on the same line. */
function shownFrom(line: string): Shown | null {
  const [, fence, info] = FENCE.exec(line) ?? [];
  if (fence !== undefined && !(fence.startsWith("`") && info!.includes("`"))) {
    return { kind: "fence", isEnd: (later) => closesFence(later, fence) };
  }
  for (const [open, close] of TAGS) {
    const found = open.exec(line);
    if (found === null || close.test(line.slice(found.index + found[0].length))) continue;
    return { kind: "tag", isEnd: (later) => close.test(later) };
  }
  // Like any paragraph a quotation ends at an empty line.
  if (!opensQuotation(line)) return null;
  return { kind: "quotation", isEnd: (later) => later.trim() === "" || opensQuotation(later) };
}

function closesFence(line: string, fence: string): boolean {
  const [, other, rest] = FENCE.exec(line) ?? [];
  return other !== undefined && other[0] === fence[0] && other.length >= fence.length && rest!.trim() === "";
}

/** Evidence may hold a quotation mark as a character; a line of the answer opens none. */
const ANSWER_LINE = /^\s*(?:[-*+•] +)?[*_]{0,3}\[(?:passed|failed|unknown)\]/i;

const opensQuotation = (line: string): boolean =>
  !ANSWER_LINE.test(line) &&
  (count(line, '"') % 2 === 1 || count(line, "“") !== count(line, "”") || count(line, "«") !== count(line, "»"));

const count = (line: string, mark: string): number => line.split(mark).length - 1;

function closing(lines: readonly string[], from: number, isEnd: Shown["isEnd"]): number | null {
  for (let at = from; at < lines.length; at += 1) if (isEnd(lines[at]!)) return at;
  return null;
}
