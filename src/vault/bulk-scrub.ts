// A quick look at bytes that come in large pieces: whether a piece can hold a secret, or the beginning of one, in any usual
// writing. Only every eighth byte is looked at: whatever is written out holds eleven of its bytes in a row, and so a sampled
// four of them. What looks like it is read in full by the scrubber.
import { type Secret, shapesOf } from "./secrets.js";

/** Bytes in a row that must be a writing's own. */
const RUN = 11;
const STEP = 2;

export class Suspicion {
  readonly #writings: readonly Buffer[];
  readonly #marked = new Uint8Array(65_536);
  readonly #places = new Map<number, [writing: number, offset: number][]>();
  /** False when a secret is too short to be found this way: then every piece is read in full. */
  readonly isSharp: boolean;

  constructor(secrets: readonly Secret[]) {
    this.#writings = secrets.flatMap(({ value }) => writingsOf(value)).map((text) => Buffer.from(text, "utf8"));
    this.isSharp = this.#writings.every(({ length }) => length >= RUN);
    for (const [writing, bytes] of this.#writings.entries()) {
      for (let offset = 0; offset + 4 <= bytes.length; offset += 1) {
        const four = bytes.readInt32LE(offset);
        this.#marked[mix(four)] = 1;
        const known = this.#places.get(four);
        if (known === undefined) this.#places.set(four, [[writing, offset]]);
        else known.push([writing, offset]);
      }
    }
  }

  mayHold(bytes: Uint8Array): boolean {
    return !this.isSharp || this.#holdsRun(bytes);
  }

  #holdsRun(bytes: Uint8Array): boolean {
    const start = (4 - (bytes.byteOffset & 3)) & 3;
    const fours = new Int32Array(bytes.buffer, bytes.byteOffset + start, Math.max(0, bytes.length - start) >> 2);
    const marked = this.#marked;
    for (let index = 0; index < fours.length; index += STEP) {
      const four = fours[index]!;
      if (marked[mix(four)] === 1 && this.#isRun(bytes, start + index * 4, four)) return true;
    }
    return false;
  }

  #isRun(bytes: Uint8Array, at: number, four: number): boolean {
    return (this.#places.get(LITTLE ? four : swapped(four)) ?? []).some(([writing, offset]) => {
      const own = this.#writings[writing]!;
      let [from, to] = [0, 4];
      while (offset - from > 0 && at - from > 0 && own[offset - from - 1] === bytes[at - from - 1]) from += 1;
      while (offset + to < own.length && at + to < bytes.length && own[offset + to] === bytes[at + to]) to += 1;
      return from + to >= RUN;
    });
  }

  /** How many bytes at the end may begin a writing: fewer than a run of them, with the rest to come. */
  beginningAtEnd(bytes: Uint8Array): number {
    for (let length = Math.min(RUN + 8, bytes.length); length > 0; length -= 1) {
      const from = bytes.length - length;
      if (this.#writings.some((own) => own.length > length && begins(own, bytes, from, length))) return length;
    }
    return 0;
  }
}

function begins(own: Uint8Array, bytes: Uint8Array, from: number, length: number): boolean {
  for (let i = 0; i < length; i += 1) if (own[i] !== bytes[from + i]) return false;
  return true;
}

const mix = (four: number): number => Math.imul(four, 0x9e3779b1) >>> 16;
const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const swapped = (four: number): number =>
  ((four & 0xff) << 24) | ((four & 0xff00) << 8) | ((four >>> 8) & 0xff00) | (four >>> 24);

/** As it is and encoded, and letter by letter in the ways programs escape. */
function writingsOf(value: string): string[] {
  const letters = [...Buffer.from(value, "utf8")];
  const hex = letters.map((byte) => byte.toString(16).padStart(2, "0"));
  const big = hex.map((pair) => pair.toUpperCase());
  const escaped = [hex, big].flatMap((pairs) => [
    pairs.map((pair) => `%${pair}`).join(""),
    pairs.map((pair) => `\\x${pair}`).join(""),
    pairs.map((pair) => `\\u00${pair}`).join(""),
    pairs.map((pair) => `&#x${pair};`).join(""),
    ...[" ", ":", "-", ", 0x", "\\x"].map((between) => pairs.join(between)),
  ]);
  const decimal = letters.map((byte) => `&#${byte};`).join("");
  return [...new Set([...shapesOf(value), ...escaped, decimal])];
}
