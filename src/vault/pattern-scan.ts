// Finding every place of many byte strings, cheaply enough for every byte that is packed or printed. The text is read as pairs of
// bytes at even addresses, one table look-up each. A string lies at an even address or at an odd one; for either case one
// of its own pairs is marked in the table, the one least likely to be met by chance, so almost all text is passed over.

interface Mark {
  readonly pattern: number;
  /** Where in the pattern the marked pair is. */
  readonly offset: number;
}

export class PatternScan {
  readonly #patterns: readonly Uint8Array[];
  /** Of each pair the index of its marks, or 0. */
  readonly #marked = new Uint16Array(65_536);
  readonly #marks: Mark[][] = [[]];
  readonly #byFirstByte = new Map<number, Uint8Array[]>();
  readonly longest: number;

  /** Patterns are at least three bytes long, or one of the two cases would have no pair. */
  constructor(patterns: readonly Uint8Array[]) {
    if (patterns.some(({ length }) => length < 3)) throw new RangeError("a pattern needs three bytes");
    this.#patterns = patterns;
    this.longest = Math.max(0, ...patterns.map(({ length }) => length));
    for (const [pattern, bytes] of patterns.entries()) {
      const sameFirst = this.#byFirstByte.get(bytes[0]!);
      if (sameFirst === undefined) this.#byFirstByte.set(bytes[0]!, [bytes]);
      else sameFirst.push(bytes);
      for (const parity of [0, 1]) {
        const offset = rarestPair(bytes, parity);
        const pair = pairAt(bytes, offset);
        if (this.#marked[pair] === 0) this.#marked[pair] = this.#marks.push([]) - 1;
        this.#marks[this.#marked[pair]!]!.push({ pattern, offset });
      }
    }
  }

  /** Every match that starts at or after `from` and before `until`, in no particular order. */
  each(bytes: Uint8Array, from: number, until: number, found: (at: number, pattern: number) => void): void {
    if (this.#patterns.length === 0) return;
    const marked = this.#marked;
    const start = from + ((bytes.byteOffset + from) & 1);
    const stop = Math.min(bytes.length, until + this.longest);
    if (stop - start < 2) return;
    const pairs = new Uint16Array(bytes.buffer, bytes.byteOffset + start, (stop - start) >> 1);
    for (let index = 0; index < pairs.length; index += 1) {
      if (index + 4 <= pairs.length) {
        const one = marked[pairs[index]!]! | marked[pairs[index + 1]!]!;
        const two = marked[pairs[index + 2]!]! | marked[pairs[index + 3]!]!;
        if ((one | two) === 0) {
          index += 3;
          continue;
        }
      }
      const marks = marked[pairs[index]!]!;
      if (marks === 0) continue;
      for (const { pattern, offset } of this.#marks[marks]!) {
        const at = start + index * 2 - offset;
        if (at >= from && at < until && this.#matches(bytes, at, pattern)) found(at, pattern);
      }
    }
  }

  #matches(bytes: Uint8Array, at: number, index: number): boolean {
    const pattern = this.#patterns[index]!;
    return at + pattern.length <= bytes.length && begins(pattern, bytes, at);
  }

  /** Where patterns may have begun that the end of `bytes` cut off, in order. */
  cutOff(bytes: Uint8Array): number[] {
    const places: number[] = [];
    for (let at = Math.max(0, bytes.length - this.longest + 1); at < bytes.length; at += 1) {
      const left = bytes.length - at;
      const patterns = this.#byFirstByte.get(bytes[at]!) ?? [];
      if (patterns.some((pattern) => pattern.length > left && begins(pattern, bytes, at))) places.push(at);
    }
    return places;
  }
}

/** Whether the bytes from `at` on are those of the pattern, as far as both go. */
function begins(pattern: Uint8Array, bytes: Uint8Array, at: number): boolean {
  const length = Math.min(pattern.length, bytes.length - at);
  for (let i = 0; i < length; i += 1) if (bytes[at + i] !== pattern[i]) return false;
  return true;
}

/** A pair as this machine reads it from memory. */
function pairAt(bytes: Uint8Array, at: number): number {
  return new Uint16Array(Uint8Array.of(bytes[at]!, bytes[at + 1]!).buffer)[0]!;
}

function rarestPair(bytes: Uint8Array, parity: number): number {
  let best = parity;
  const weight = (at: number) => COMMONNESS[bytes[at]!]! * COMMONNESS[bytes[at + 1]!]!;
  for (let at = parity; at + 1 < bytes.length; at += 2) if (weight(at) < weight(best)) best = at;
  return best;
}

/** How often a byte stands in text: rough, and only a matter of speed. */
const COMMONNESS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if ("etaoinsr ".includes(character)) return 8;
  return /[a-z./:-]/.test(character) ? 4 : 1;
});
