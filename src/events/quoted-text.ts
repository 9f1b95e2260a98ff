// Which parts of a message are not a person's own words: code, quotations, comments. Messages are pasted by the megabyte,
// so every character is looked at a bounded number of times: where the end of a quotation lies is remembered, never sought again.

/** The same length, with everything quoted replaced by a letter, so that no tag is seen there. */
export function blankQuoted(message: string): string {
  const text = withoutPairs(withoutCode(withoutBlocks(message)));
  return text.split("\n").map(withoutQuotations).join("\n");
}

const blank = (text: string): string => (text.includes("\n") ? text.replace(/[^\n]/g, "x") : "x".repeat(text.length));

/** Fenced and indented code, and lines that quote another message. */
function withoutBlocks(message: string): string {
  let fence: string | null = null;
  let indented = false;
  let previousBlank = false;
  const lines = message.split("\n").map((line, i) => {
    const marker = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== null) {
      if (marker !== undefined && marker[0] === fence[0] && marker.length >= fence.length && /^\s*[`~]+\s*$/.test(line))
        fence = null;
      return blank(line);
    }
    if (marker !== undefined) {
      fence = marker;
      return blank(line);
    }
    indented = i > 0 && /^(?: {4}|\t)/.test(line) && (previousBlank || indented);
    previousBlank = line.trim() === "";
    return indented || /^\s*>/.test(line) ? blank(line) : line;
  });
  return lines.join("\n");
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Code in backquotes: as many at its end as at its start. */
function withoutCode(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({
    start: index,
    length,
    end: index + length,
  }));
  const nextOfLength = new Map<number, number>();
  const closes: (number | undefined)[] = [];
  for (let i = runs.length - 1; i >= 0; i -= 1) {
    closes[i] = nextOfLength.get(runs[i]!.length);
    nextOfLength.set(runs[i]!.length, i);
  }
  const spans: Span[] = [];
  for (let i = 0; i < runs.length; i += 1) {
    const close = closes[i];
    if (close === undefined) continue;
    spans.push({ start: runs[i]!.start, end: runs[close]!.end });
    i = close;
  }
  return blanked(text, spans);
}

const CLOSING: Readonly<Record<string, string>> = {
  "<code": "</code>",
  "<pre": "</pre>",
  "<kbd": "</kbd>",
  "<!--": "-->",
};

/** Elements that hold code, and comments. */
function withoutPairs(text: string): string {
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const find = finder(lower);
  const spans: Span[] = [];
  for (const { 0: open, index } of lower.matchAll(/<(?:code|pre|kbd)\b|<!--/g)) {
    if (index < (spans.at(-1)?.end ?? 0)) continue;
    const close = CLOSING[open]!;
    const at = find(close, index + open.length);
    if (at >= 0) spans.push({ start: index, end: at + close.length });
  }
  return blanked(text, spans);
}

const QUOTES: Readonly<Record<string, readonly string[]>> = {
  '"': ['"'],
  "“": ["”"],
  "«": ["»"],
  "„": ["“", "”"],
  "‘": ["’"],
  "'": ["'"],
};

const OPENING = new Set(Object.keys(QUOTES).map((open) => open.charCodeAt(0)));

function withoutQuotations(line: string): string {
  const find = finder(line);
  const spans: Span[] = [];
  // Letter by letter: a megabyte of quotation marks would be a million matches of an expression.
  for (let index = 0; index < line.length; index += 1) {
    if (!OPENING.has(line.charCodeAt(index))) continue;
    const open = line[index]!;
    const end = nearest(find, QUOTES[open]!, index + 1) + 1;
    if (end === 0) continue;
    // An apostrophe inside a word quotes nothing.
    if (open === "'" && (inWord(line[index - 1]) || inWord(line[end]))) continue;
    spans.push({ start: index, end });
    index = end - 1;
  }
  return blanked(line, spans);
}

/** Where the first of them stands, or -1. */
function nearest(find: ReturnType<typeof finder>, wanted: readonly string[], from: number): number {
  let first = -1;
  for (const one of wanted) {
    const at = find(one, from);
    if (at >= 0 && (first < 0 || at < first)) first = at;
  }
  return first;
}

const inWord = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char);

/** `indexOf` for positions that only go up. */
function finder(text: string): (wanted: string, from: number) => number {
  const next = new Map<string, number>();
  return (wanted, from) => {
    const before = next.get(wanted);
    if (before !== undefined && (before < 0 || before >= from)) return before;
    const at = text.indexOf(wanted, from);
    next.set(wanted, at);
    return at;
  };
}

function blanked(text: string, spans: readonly Span[]): string {
  let at = 0;
  let result = "";
  for (const { start, end } of spans) {
    result += text.slice(at, start) + blank(text.slice(start, end));
    at = end;
  }
  return result + text.slice(at);
}
