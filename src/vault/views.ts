// The same text as a secret's encodings see it: escapes undone, line breaks of base64 left out, separators of hex left out.
// A match in a view leads back to its place in the text. Everything printed passes here, so runs are copied whole.

/** A text as it is read, and where in the text each byte of it stands. */
export interface Seen {
  readonly bytes: Uint8Array;
  /** Where a piece begins that the end of the text cut off; the length of the text when there is none. */
  readonly cut: number;
  startOf(index: number): number;
  endOf(index: number): number;
}

/** Pieces of a text and what they stand for. */
class View implements Seen {
  cut: number;
  readonly #text: Uint8Array;
  readonly #bytes: Uint8Array;
  #length = 0;
  /** Of each piece its place in the view, its place in the text, and its length there; 0 for a run of plain bytes. */
  readonly #pieces: number[] = [];

  constructor(text: Uint8Array) {
    this.#text = text;
    // No piece stands for more bytes than it has.
    this.#bytes = new Uint8Array(text.length);
    this.cut = text.length;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  run(from: number, to: number): void {
    if (from === to) return;
    this.#pieces.push(this.#length, from, 0);
    if (to - from > 64) this.#bytes.set(this.#text.subarray(from, to), this.#length);
    else for (let at = from; at < to; at += 1) this.#bytes[this.#length + at - from] = this.#text[at]!;
    this.#length += to - from;
  }

  piece(at: number, { length, bytes }: Piece): void {
    this.#pieces.push(this.#length, at, length);
    for (const byte of bytes) this.#bytes[this.#length++] = byte;
  }

  /** Other bytes in every run; what was escaped stays what it stands for. */
  replace(table: Uint8Array): void {
    for (let piece = 0; piece < this.#pieces.length; piece += 3) {
      if (this.#pieces[piece + 2] !== 0) continue;
      const end = this.#pieces[piece + 3] ?? this.#length;
      for (let at = this.#pieces[piece]!; at < end; at += 1) this.#bytes[at] = table[this.#bytes[at]!]!;
    }
  }

  startOf(index: number): number {
    const [at, place, length] = this.#pieceOf(index);
    return length === 0 ? place + index - at : place;
  }

  endOf(index: number): number {
    const [at, place, length] = this.#pieceOf(index);
    return length === 0 ? place + index - at + 1 : place + length;
  }

  /** The last piece that begins at or before a byte of the view. */
  #pieceOf(index: number): [number, number, number] {
    let [low, high] = [0, this.#pieces.length / 3 - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#pieces[middle * 3]! <= index) low = middle;
      else high = middle - 1;
    }
    return [this.#pieces[low * 3]!, this.#pieces[low * 3 + 1]!, this.#pieces[low * 3 + 2]!];
  }
}

/** How many bytes of the text one piece takes, and what they stand for. */
interface Piece {
  readonly length: number;
  readonly bytes: readonly number[];
}

const code = (character: string) => character.charCodeAt(0);
const QUOTE = code("'");

const table = (change: (byte: number) => number) => Uint8Array.from({ length: 256 }, (_, byte) => change(byte));
const isIn = (characters: string) => table((byte) => Number(characters.includes(String.fromCharCode(byte))));

interface Leaving {
  /** 1 for bytes that are left out. */
  readonly out: Uint8Array;
  /** 1 for bytes that are left out together with the one after them, when that is one of `second`. */
  readonly first: Uint8Array;
  readonly second: Uint8Array;
}

function without(text: Uint8Array, isLast: boolean, { out, first, second }: Leaving): View {
  const view = new View(text);
  let from = 0;
  let at = 0;
  for (; at < text.length; at += 1) {
    const byte = text[at]!;
    if ((out[byte]! | first[byte]!) === 0) continue;
    const isPair = first[byte] === 1 && at + 1 < text.length && second[text[at + 1]!] === 1;
    if (out[byte] === 0 && !isPair) {
      if (at + 1 < text.length || isLast) continue;
      view.cut = at;
      break;
    }
    view.run(from, at);
    if (isPair) at += 1;
    from = at + 1;
  }
  view.run(from, Math.min(at, text.length));
  return view;
}

const SPACE = " \t\n\v\f\r";
const WRAPS: Leaving = { out: isIn(SPACE), first: isIn("\\"), second: isIn("nr\n\r") };
const SEPARATORS: Leaving = { out: isIn(`${SPACE}:,-`), first: isIn("0\\"), second: isIn("xX") };
const LOWER = table((byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

/** Without white space, without line breaks written as `\n`, and without the backslash before one: whatever was wrapped. */
export const compactView = (text: Uint8Array, isLast: boolean): View => without(text, isLast, WRAPS);

/** In lower case, without separators and `0x` or `\x` before digits: hex however it was spaced. */
export function hexView(text: Uint8Array, isLast: boolean): View {
  const view = without(text, isLast, SEPARATORS);
  view.replace(LOWER);
  return view;
}

/** One way of escaping: what it begins with, what of it the end of a text may cut off, and what it stands for. */
interface Escaping {
  readonly first: string;
  readonly unfinished: RegExp;
  readonly read: (ahead: string) => Piece | null;
  /** How far one may reach; a pair of surrogates otherwise. */
  readonly longest?: number;
  /** A byte that stands for another one. */
  readonly also?: readonly [string, string];
}

/** A pair of surrogates. */
const LONGEST = 12;

/** The text with one way of escaping undone; null when nothing in it is escaped that way. Ways are not mixed. */
function decodedView({ first, unfinished, read, also, longest = LONGEST }: Escaping) {
  const mark = code(first);
  const other = also === undefined ? null : table((byte) => (byte === code(also[0]) ? code(also[1]) : byte));
  return (text: Uint8Array, isLast: boolean): View | null => {
    if (!text.includes(mark) && (also === undefined || !text.includes(code(also[0])))) return null;
    const view = new View(text);
    let from = 0;
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at)) {
      const length = Math.min(longest, text.length - at);
      const ahead = Buffer.from(text.buffer, text.byteOffset + at, length).toString("latin1");
      if (!isLast && at + length === text.length && unfinished.test(ahead)) {
        view.cut = at;
        break;
      }
      const piece = read(ahead);
      if (piece !== null) {
        view.run(from, at);
        view.piece(at, piece);
        from = at + piece.length;
      }
      at += piece?.length ?? 1;
    }
    view.run(from, view.cut);
    if (other !== null) view.replace(other);
    return view;
  };
}

/** URLs and forms, where `+` is a space. */
const percentView = decodedView({
  first: "%",
  unfinished: /^%[0-9a-f]?$/i,
  read: (ahead) => byteEscape(/^%([0-9a-f]{2})/i.exec(ahead), 16),
  also: ["+", " "],
});

/** JSON, `\u`, `\x`, octal, and a shell's backslashes. */
const backslashView = decodedView({
  first: "\\",
  unfinished:
    /^\\(?:x[0-9a-f]?|[0-7]{1,2}|u[0-9a-f]{0,3}|[ux]\{[0-9a-f]{0,6}|u0[0-9a-f]{3,6}|ud[89ab][0-9a-f]{2}(?:\\(?:u[0-9a-f]{0,3})?)?)?$/i,
  read: (ahead) =>
    point(/^\\[ux]\{([0-9a-f]{1,6})\}|^\\U(00[0-9a-f]{6})/i.exec(ahead)) ??
    unicode(ahead) ??
    byteEscape(/^\\x([0-9a-f]{2})/i.exec(ahead), 16) ??
    byteEscape(/^\\([0-3][0-7]{2})/.exec(ahead), 8) ??
    simple(ahead[1]),
});

const htmlView = decodedView({ first: "&", unfinished: /^&#?[0-9a-z]{0,7}$/i, read: entity });

/** A single quote between single quotes, as shells need it: `'\''` or `'"'"'`. */
const shellView = decodedView({
  first: "'",
  unfinished: /^'(?:\\'?|"(?:'"?)?)?$/,
  read: (ahead) => {
    const match = /^'(?:\\''|"'"')/.exec(ahead);
    return match === null ? null : { length: match[0].length, bytes: [QUOTE] };
  },
});

/** Without the colours a program puts into its lines. */
const colourView = decodedView({
  first: "\x1b",
  longest: 40,
  unfinished: /^\x1b(?:\[[0-9;:?]*)?$/,
  read: (ahead) => {
    const match = /^\x1b\[[0-9;:?]*[A-Za-z]/.exec(ahead);
    return match === null ? null : { length: match[0].length, bytes: [] };
  },
});

type Viewer = (text: Uint8Array, isLast: boolean) => Seen | null;

/** What was escaped twice the same way; `again` is how an escape itself is escaped. */
const twice =
  (view: Viewer, again: string): Viewer =>
  (text, isLast) => {
    if (!Buffer.from(text.buffer, text.byteOffset, text.length).includes(again)) return null;
    const outer = view(text, isLast);
    const inner = outer === null ? null : view(outer.bytes, isLast);
    if (outer === null || inner === null) return null;
    return {
      bytes: inner.bytes,
      cut: inner.cut < outer.bytes.length ? outer.startOf(inner.cut) : outer.cut,
      startOf: (index) => outer.startOf(inner.startOf(index)),
      endOf: (index) => outer.endOf(inner.endOf(index) - 1),
    };
  };

/** Every way of escaping that is undone, once, or twice where that is usual. */
export const DECODED_VIEWS: readonly Viewer[] = [
  percentView,
  backslashView,
  htmlView,
  shellView,
  colourView,
  twice(percentView, "%25"),
  twice(backslashView, "\\\\"),
  twice(htmlView, "&amp;"),
];

function byteEscape(match: RegExpExecArray | null, base: number): Piece | null {
  return match === null ? null : { length: match[0].length, bytes: [Number.parseInt(match[1]!, base)] };
}

function point(match: RegExpExecArray | null): Piece | null {
  if (match === null) return null;
  const value = Number.parseInt(match[1] ?? match[2]!, 16);
  return value > 0x10ffff ? null : character(match[0].length, String.fromCodePoint(value));
}

function unicode(ahead: string): Piece | null {
  const match = /^\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|^\\u([0-9a-f]{4})/i.exec(ahead);
  if (match === null) return null;
  const units = match.slice(1).filter((unit) => unit !== undefined);
  return character(match[0].length, String.fromCharCode(...units.map((unit) => Number.parseInt(unit, 16))));
}

const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/** `\n` and its like; a backslash before anything but a letter or digit, as shells and JSON write it. */
function simple(next: string | undefined): Piece | null {
  if (next === undefined) return null;
  const control = CONTROLS[next];
  if (control !== undefined) return { length: 2, bytes: [code(control)] };
  return /[^A-Za-z0-9\u0080-\u00ff]/.test(next) ? { length: 2, bytes: [code(next)] } : null;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

function entity(ahead: string): Piece | null {
  const match = /^&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{2,4}));/i.exec(ahead);
  if (match === null) return null;
  const [whole, hex, decimal, name] = match;
  if (name !== undefined) return ENTITIES[name] === undefined ? null : character(whole.length, ENTITIES[name]);
  const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return point > 0x10ffff ? null : character(whole.length, String.fromCodePoint(point));
}

const character = (length: number, text: string): Piece => ({ length, bytes: [...Buffer.from(text, "utf8")] });
