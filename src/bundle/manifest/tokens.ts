// How much of a model's context a text takes, without shipping a vocabulary. One pass over the bytes counts the things
// a byte-pair tokenizer splits at; the weights were fitted to o200k over source, markup, prose and data, and the test
// holds the result within a tenth of the real count. It is an estimate, and is always labelled as one.

/** Fitted cost in tokens of each thing counted below. */
const COST = {
  word: 1.05,
  letterPast8: 0.268,
  letterPast20: -0.142,
  wordAfterMark: 0.311,
  capital: 0.039,
  threeDigits: 1.289,
  lineBreak: 0.578,
  indent: 0.82,
  spacePast16: 0.03,
  mark: 0.811,
  markPast1: 0.056,
  markBeforeWord: -0.765,
  narrow: 0.514,
  wide: 0.7,
  picture: 1.5,
} as const;

const UPPER = 1;
const LOWER = 2;
const DIGIT = 3;
const MARK = 4;
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 65 && byte <= 90) return UPPER;
  if (byte >= 97 && byte <= 122) return LOWER;
  if (byte >= 48 && byte <= 57) return DIGIT;
  return byte > 32 && byte < 127 ? MARK : 0;
});

/** Estimated o200k tokens of a UTF-8 text. Binary content has no meaningful answer; ask `isText` first. */
export function estimateTokens(content: string | Uint8Array): number {
  const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
  let tokens = 0;
  for (let at = 0; at < bytes.length; ) {
    const kind = KINDS[bytes[at]!]!;
    const end = kind === 0 ? pastOther(bytes, at) : pastRun(bytes, at, kind);
    if (kind === UPPER || kind === LOWER) tokens += word(bytes, at, end);
    else if (kind === DIGIT) tokens += Math.ceil((end - at) / 3) * COST.threeDigits;
    else if (kind === MARK) tokens += marks(bytes, at, end);
    else tokens += other(bytes, at, end);
    at = end;
  }
  return Math.round(tokens);
}

/** `HTTPServer`, `camelCase`: capitals, then small letters, is one word; the next capital starts another. */
function pastRun(bytes: Uint8Array, start: number, kind: number): number {
  let at = start;
  while (at < bytes.length && KINDS[bytes[at]!] === kind) at += 1;
  if (kind === UPPER) while (at < bytes.length && KINDS[bytes[at]!] === LOWER) at += 1;
  return at;
}

const isBreak = (byte: number | undefined) => byte === 10 || byte === 13;
const isSpace = (byte: number | undefined) => byte === 32 || byte === 9;

function pastOther(bytes: Uint8Array, start: number): number {
  const first = bytes[start]!;
  const same = isBreak(first) ? isBreak : isSpace(first) ? isSpace : null;
  if (same === null) return start + (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1);
  let at = start;
  while (same(bytes[at])) at += 1;
  return at;
}

function word(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  let cost = COST.word;
  if (length > 8) cost += (length - 8) * COST.letterPast8;
  if (length > 20) cost += (length - 20) * COST.letterPast20;
  if (length > 2 && start > 0 && bytes[start - 1] !== 32) cost += COST.wordAfterMark;
  if (length > 2 && KINDS[bytes[end - 1]!] === UPPER) cost += (length - 2) * COST.capital;
  return cost;
}

function marks(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const next = KINDS[bytes[end] ?? 0];
  const joins = length === 1 && (next === UPPER || next === LOWER) && bytes[start - 1] !== 32;
  return COST.mark + (length - 1) * COST.markPast1 + (joins ? COST.markBeforeWord : 0);
}

function other(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]!;
  const length = end - start;
  if (isBreak(first)) return COST.lineBreak;
  if (isSpace(first)) {
    if (length === 1 && KINDS[bytes[end] ?? 0] !== DIGIT) return 0;
    return COST.indent + Math.max(0, length - 16) * COST.spacePast16;
  }
  if (first >= 0xf0) return COST.picture;
  return first >= 0xe0 ? COST.wide : COST.narrow;
}
