// Finding every place of many byte strings, cheaply enough for every byte that is packed. The text is read as pairs of
// bytes at even addresses, one table look-up each. A string lies at an even address or at an odd one; for either case one
// of its own pairs is marked in the table, the one least likely to be met by chance, so almost all text is passed over.

interface Mark {
  readonly pattern: number;
  /** Where in the pattern the marked pair is. */
  readonly offset: number;
}

export class PairScan {
  readonly #patterns: readonly Uint8Array[];
  /** Of each pair the index of its marks, or 0. */
  readonly #marked = new Uint16Array(65_536);
  readonly #marks: Mark[][] = [[]];
  readonly longest: number;

  /** Patterns are at least three bytes long, or one of the two cases would have no pair. */
  constructor(patterns: readonly Uint8Array[]) {
    if (patterns.some(({ length }) => length < 3)) throw new RangeError("a pattern needs three bytes");
    this.#patterns = patterns;
    this.longest = Math.max(0, ...patterns.map(({ length }) => length));
    for (const [pattern, bytes] of patterns.entries()) {
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
    if (at + pattern.length > bytes.length) return false;
    for (let i = 0; i < pattern.length; i += 1) if (bytes[at + i] !== pattern[i]) return false;
    return true;
  }
}

/** A pair as this machine reads it from memory. */
function pairAt(bytes: Uint8Array, at: number): number {
  return new Uint16Array(Uint8Array.of(bytes[at]!, bytes[at + 1]!).buffer)[0]!;
}

function rarestPair(bytes: Uint8Array, parity: number): number {
  let best = parity;
  const weight = (at: number) => commonness(bytes[at]!) * commonness(bytes[at + 1]!);
  for (let at = parity; at + 1 < bytes.length; at += 2) if (weight(at) < weight(best)) best = at;
  return best;
}

/** Rough, and only a matter of speed. */
function commonness(byte: number): number {
  const character = String.fromCharCode(byte);
  if ("etaoinsr ".includes(character)) return 8;
  return /[a-z./:-]/.test(character) ? 4 : 1;
}
