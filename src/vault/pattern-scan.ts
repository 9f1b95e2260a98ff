// Finding every place of many byte strings, cheaply enough for every byte that is packed or printed. The text is read as pairs of
// bytes at even addresses, one table look-up each. A string lies at an even address or at an odd one; for either case one
// of its own pairs is marked in the table, the one least likely to be met by chance. Where a marked pair is met, the byte before it
// and the byte after it say which of its strings may be there, so almost all text is passed over without comparing any.

interface Mark {
  readonly pattern: number;
  /** Where in the pattern the marked pair is. */
  readonly offset: number;
}

/** One search: where, between which starts, and who is told. */
interface Look {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly until: number;
  readonly onMatch: (at: number, pattern: number) => void;
}

/** A mark's own bit, as far as there are bits; what shares one is told apart by comparing. */
const BITS = 8;

export class PatternScan {
  readonly #patterns: readonly Uint8Array[];
  /** Of each pair the index of its marks, or 0. */
  readonly #marked = new Uint16Array(65_536);
  readonly #marks: Mark[][] = [[]];
  /** For each index of marks and each byte, the bits of the marks that let it stand before their pair, and after it. */
  readonly #before: Uint8Array;
  readonly #after: Uint8Array;
  readonly #byFirstByte = new Map<number, Uint8Array[]>();
  readonly longest: number;

  /** Patterns are at least three bytes long, or one of the two cases would have no pair. */
  constructor(patterns: readonly Uint8Array[]) {
    if (patterns.some(({ length }) => length < 3)) throw new RangeError("a pattern needs three bytes");
    this.#patterns = patterns;
    this.longest = patterns.reduce((most, { length }) => Math.max(most, length), 0);
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
    this.#before = this.#neighbours(({ offset }) => offset - 1);
    this.#after = this.#neighbours(({ offset }) => offset + 2);
  }

  /** Which byte each mark wants at a place of its pattern; any, where the pattern has none. */
  #neighbours(place: (mark: Mark) => number): Uint8Array {
    const wanted = new Uint8Array(this.#marks.length * 256);
    for (const [index, marks] of this.#marks.entries()) {
      const row = wanted.subarray(index * 256, index * 256 + 256);
      for (const [nth, mark] of marks.entries()) {
        const bit = 1 << (nth % BITS);
        const byte = this.#patterns[mark.pattern]![place(mark)];
        if (byte !== undefined) row[byte]! |= bit;
        else for (let any = 0; any < 256; any += 1) row[any]! |= bit;
      }
    }
    return wanted;
  }

  /** Every match that starts at or after `from` and before `until`, in no particular order. */
  each(bytes: Uint8Array, from: number, until: number, onMatch: (at: number, pattern: number) => void): void {
    if (this.#patterns.length === 0) return;
    const stop = Math.min(bytes.length, until + this.longest);
    const look: Look = { bytes, from, until, onMatch };
    let at = from + ((bytes.byteOffset + from) & 1);
    while (at + 2 <= stop && (at === 0 || (bytes.byteOffset + at) % 4 !== 0)) at = this.#pair(look, at);
    if (IS_LOWER_FIRST) at = this.#words(look, at, stop);
    while (at + 2 <= stop) at = this.#pair(look, at);
  }

  /**
   * Two pairs at once, without a branch between them: a marked pair is too common in text to be foretold, and a wrong guess costs more
   * than all the look-ups. Begins at an address divisible by four with a byte before it; returns where it ended.
   */
  #words(look: Look, start: number, stop: number): number {
    const { bytes } = look;
    if (stop - start < WORDS_FROM) return start;
    const [marked, before, after] = [this.#marked, this.#before, this.#after];
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + start, (stop - start) >> 2);
    const end = words.length - 1;
    let previous = bytes[start - 1]!;
    for (let index = 0; index < end; index += 1) {
      const word = words[index]!;
      const one = marked[word & 0xffff]! << 8;
      const two = marked[word >>> 16]! << 8;
      const next = words[index + 1]! & 0xff;
      const first = before[one | previous]! & after[one | ((word >>> 16) & 0xff)]!;
      const second = before[two | ((word >>> 8) & 0xff)]! & after[two | next]!;
      previous = word >>> 24;
      if ((first | second) !== 0) this.#compareBoth(look, start + index * 4, one >> 8, first, two >> 8, second);
    }
    return start + end * 4;
  }

  /** Apart from the loop, in which V8 has seen all there is once it has seen one of the two. */
  #compareBoth(look: Look, here: number, one: number, first: number, two: number, second: number): void {
    if (first !== 0) this.#compare(look, here, one, first);
    if (second !== 0) this.#compare(look, here + 2, two, second);
  }

  /** Looks at one pair, anywhere; returns where the next one is. */
  #pair(look: Look, here: number): number {
    const index = this.#marked[pairAt(look.bytes, here)]!;
    if (index === 0) return here + 2;
    const [earlier, later] = [look.bytes[here - 1], look.bytes[here + 2]];
    // At the edge of the text there is no neighbour to ask.
    const bits =
      (earlier === undefined ? ALL_BITS : this.#before[index * 256 + earlier]!) &
      (later === undefined ? ALL_BITS : this.#after[index * 256 + later]!);
    if (bits !== 0) this.#compare(look, here, index, bits);
    return here + 2;
  }

  /** Compares those of a pair's patterns whose bits are left. */
  #compare({ bytes, from, until, onMatch }: Look, here: number, index: number, bits: number): void {
    const marks = this.#marks[index]!;
    for (let nth = 0; nth < marks.length; nth += 1) {
      if ((bits & (1 << (nth % BITS))) === 0) continue;
      const { pattern, offset } = marks[nth]!;
      const at = here - offset;
      if (at >= from && at < until && this.#matches(bytes, at, pattern)) onMatch(at, pattern);
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

const ALL_BITS = 0xff;
/** Fewer bytes than these are looked at pair by pair. */
const WORDS_FROM = 16;
const IS_LOWER_FIRST = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Whether the bytes from `at` on are those of the pattern, as far as both go. */
function begins(pattern: Uint8Array, bytes: Uint8Array, at: number): boolean {
  const length = Math.min(pattern.length, bytes.length - at);
  for (let i = 0; i < length; i += 1) if (bytes[at + i] !== pattern[i]) return false;
  return true;
}

/** The lower byte first, as nearly every machine keeps it. */
function pairAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
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
