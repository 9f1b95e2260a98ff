// A quick look at bytes that come in large pieces: whether a piece can hold a secret in any usual writing. Only one in some
// aligned fours is looked at, in a table of bits: whatever is written out holds a run of its bytes, and so a sampled four of
// them. What looks like it is read in full by the scrubber.
import { base64Shapes, decodedShapes, type Secret, shapesOf } from "./secrets.js";

/** One four in so many is looked at. A run of this and three bytes more holds one that is. */
const STEPS = [4, 3, 2, 1] as const;
/** A longer writing is found by its beginning. */
const MARKED_BYTES = 48;
/** So few of the bits are set that other text seldom meets one. */
const BITS_PER_MARK = 512;

export class Suspicion {
  readonly #writings: readonly Buffer[];
  readonly #places = new Map<number, [writing: number, offset: number][]>();
  readonly #bits: Int32Array;
  readonly #shift: number;
  /** 0 when a secret is too short to be found this way: then every piece is read in full. */
  readonly #step: number;
  readonly #run: number;
  /** One, two and three bytes that writings begin with. */
  readonly #beginnings = new Set<string>();

  constructor(secrets: readonly Secret[]) {
    const values = secrets.map(({ value }) => value);
    this.#writings = values.flatMap(writingsOf).map((text) => Buffer.from(text, "utf8"));
    const shortest = Math.min(...this.#writings.map(({ length }) => length));
    // A line may break in it once: the longer part must be a run too.
    const wrapped = Math.min(...values.flatMap(base64Shapes).map(({ length }) => (length + 1) >> 1));
    this.#step = STEPS.find((step) => runOf(step) <= Math.min(shortest, wrapped)) ?? 0;
    this.#run = runOf(this.#step);
    for (const [writing, bytes] of this.#writings.entries()) {
      for (const length of [1, 2, 3]) this.#beginnings.add(bytes.toString("latin1", 0, length));
      for (let offset = 0; offset + 4 <= Math.min(bytes.length, MARKED_BYTES); offset += 1) {
        const four = bytes.readInt32LE(offset);
        const known = this.#places.get(four);
        if (known === undefined) this.#places.set(four, [[writing, offset]]);
        else known.push([writing, offset]);
      }
    }
    const size = Math.min(20, Math.max(15, Math.ceil(Math.log2(this.#places.size * BITS_PER_MARK + 1))));
    this.#shift = 32 - size;
    this.#bits = new Int32Array(2 ** (size - 5));
    for (const four of this.#places.keys()) {
      const bit = Math.imul(four, MIX) >>> this.#shift;
      this.#bits[bit >>> 5]! |= 1 << bit;
    }
  }

  mayHold(bytes: Uint8Array): boolean {
    return this.#step === 0 || this.#holdsRun(bytes);
  }

  #holdsRun(bytes: Uint8Array): boolean {
    const start = -bytes.byteOffset & 3;
    const fours = new Int32Array(bytes.buffer, bytes.byteOffset + start, Math.max(0, bytes.length - start) >> 2);
    const [bits, shift, step] = [this.#bits, this.#shift, this.#step];
    let index = 0;
    for (const last = fours.length - 3 * step; index < last; index += 4 * step) {
      const one = Math.imul(fours[index]!, MIX) >>> shift;
      const two = Math.imul(fours[index + step]!, MIX) >>> shift;
      const three = Math.imul(fours[index + 2 * step]!, MIX) >>> shift;
      const four = Math.imul(fours[index + 3 * step]!, MIX) >>> shift;
      const set =
        (bits[one >>> 5]! >>> one) |
        (bits[two >>> 5]! >>> two) |
        (bits[three >>> 5]! >>> three) |
        (bits[four >>> 5]! >>> four);
      if ((set & 1) === 0) continue;
      for (let at = index; at <= index + 3 * step; at += step)
        if (this.#isRun(bytes, start + at * 4, fours[at]!)) return true;
    }
    for (; index < fours.length; index += step) if (this.#isRun(bytes, start + index * 4, fours[index]!)) return true;
    return false;
  }

  /** Whether a secret may begin here and go on in what follows. For few bytes: each of them is looked at. */
  mayBegin(bytes: Buffer): boolean {
    const { length } = bytes;
    if (this.#step === 0) return true;
    for (let at = Math.max(0, length - LONGEST_ESCAPE); at < length; at += 1)
      if (ESCAPES[bytes[at]!] === 1) return true;
    for (let at = Math.max(0, length - 3); at < length; at += 1)
      if (this.#beginnings.has(bytes.toString("latin1", at))) return true;
    return this.touches(bytes);
  }

  /** Whether four bytes of a writing stand in it. For few bytes: each of them is looked at. */
  touches(bytes: Uint8Array): boolean {
    if (this.#step === 0) return true;
    for (let at = 0; at + 4 <= bytes.length; at += 1) {
      const four = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      const bit = Math.imul(four, MIX) >>> this.#shift;
      if (((this.#bits[bit >>> 5]! >>> bit) & 1) !== 0 && this.#places.has(four)) return true;
    }
    return false;
  }

  #isRun(bytes: Uint8Array, at: number, four: number): boolean {
    const places = this.#places.get(LITTLE ? four : swapped(four));
    if (places === undefined) return false;
    return places.some(([writing, offset]) => {
      const own = this.#writings[writing]!;
      let [from, to] = [0, 4];
      while (offset - from > 0 && at - from > 0 && own[offset - from - 1] === bytes[at - from - 1]) from += 1;
      while (offset + to < own.length && at + to < bytes.length && own[offset + to] === bytes[at + to]) to += 1;
      return from + to >= this.#run;
    });
  }
}

/** An escape, or a break, may be cut off at the end. */
const ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number("%\\&' \t\r\n".includes(String.fromCharCode(byte))),
);
const LONGEST_ESCAPE = 12;

const runOf = (step: number): number => step * 4 + 3;

const MIX = 0x9e3779b1;
const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const swapped = (four: number): number =>
  ((four & 0xff) << 24) | ((four & 0xff00) << 8) | ((four >>> 8) & 0xff00) | (four >>> 24);

/** As it is and encoded, and in the ways programs escape it: letter by letter, or what needs it alone. */
function writingsOf(value: string): string[] {
  const letters = [...Buffer.from(value, "utf8")];
  const hex = letters.map((byte) => byte.toString(16).padStart(2, "0"));
  const big = hex.map((pair) => pair.toUpperCase());
  const spelled = [hex, big].flatMap((pairs) => [
    pairs.map((pair) => `%${pair}`).join(""),
    pairs.map((pair) => `\\x${pair}`).join(""),
    pairs.map((pair) => `&#x${pair};`).join(""),
    ...[" ", ":", "-", ", 0x", "\\x"].map((between) => pairs.join(between)),
  ]);
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at).toString(16).padStart(4, "0"));
  const points = [...value].map((one) => one.codePointAt(0)!);
  return [
    ...new Set([
      ...shapesOf(value),
      ...decodedShapes(value),
      ...spelled,
      units.map((unit) => `\\u${unit}`).join(""),
      units.map((unit) => `\\u${unit.toUpperCase()}`).join(""),
      letters.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join(""),
      points.map((point) => `&#${point};`).join(""),
      points.map((point) => `&#x${point.toString(16)};`).join(""),
      ...whereNeeded(value),
    ]),
  ];
}

function whereNeeded(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const whole = Buffer.from(value, "utf8").toString("utf8");
  const percent = encodeURIComponent(whole);
  const strict = percent.replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
  const ascii = (text: string, odd: RegExp) =>
    text.replace(odd, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const html = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  const percents = [percent, strict].flatMap((text) => [text, text.replaceAll("%20", "+")]);
  return [
    ...percents,
    ...percents.map((text) => text.replace(/%../g, (one) => one.toLowerCase())),
    encodeURIComponent(percent),
    encodeURIComponent(json),
    json.replaceAll("/", "\\/"),
    ascii(json, /[^\0-\x7f]/g),
    ascii(json, /[^\0-\x7f]|[<>&']/g),
    ...["&#39;", "&#x27;", "&apos;"].flatMap((quote) => [html.replaceAll("'", quote)]),
    value.replaceAll("'", "'\\''"),
    value.replaceAll("'", `'"'"'`),
    value.replace(/[^\w\u0080-\uffff]/g, "\\$&"),
  ];
}
