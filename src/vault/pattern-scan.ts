// Finding every place of many byte strings, cheaply enough for every byte that is packed or printed. The text is read as pairs of
// bytes at even addresses, one table look-up each. A string lies at an even address or at an odd one; for either case two pairs in a row
// are chosen, those least likely to be met by chance, and get one of sixteen bits. The table says of each pair for which bits it may be
// the first of the two, and for which the second: where two pairs in a row have a bit in common, the four bytes are compared with
// those of the strings that begin so. Almost all text is passed over without comparing anything.

/** One search: where, between which starts, and who is told. */
interface Look {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly until: number;
  readonly onMatch: (at: number, pattern: number) => void;
}

const BITS = 16;
/** The lowest bits are for strings that begin with the second byte of their first pair: any other byte may stand before it. */
const HALF_BITS = 4;
const HALF_MASK = (1 << HALF_BITS) - 1;
/** Where in a string its two pairs may begin at the latest: what is close to the end of a text is compared one by one. */
const LATEST = 24;
const WINDOW = 4;

export class PatternScan {
  readonly #patterns: readonly Uint8Array[];
  /** Of each pair: the bits it may be the first for, and in the upper half those it may be the second for. */
  readonly #pairs = new Int32Array(65_536);
  readonly #byPair = new Marks(65_536);
  /** Those of the lowest bits, by the second byte of the first pair. */
  readonly #byByte = new Marks(256);
  readonly #byFirstByte: (number[] | undefined)[] = [];
  /** How far from its start the two pairs of a pattern may end. */
  readonly #reach: number;
  readonly longest: number;

  /** Patterns are at least three bytes long, or one of the two cases would have no pair. */
  constructor(patterns: readonly Uint8Array[]) {
    if (patterns.some(({ length }) => length < 3)) throw new RangeError("a pattern needs three bytes");
    this.#patterns = patterns;
    this.longest = patterns.reduce((most, { length }) => Math.max(most, length), 0);
    let reach = 0;
    for (const [pattern, bytes] of patterns.entries()) {
      const sameFirst = this.#byFirstByte[bytes[0]!];
      if (sameFirst === undefined) this.#byFirstByte[bytes[0]!] = [pattern];
      else sameFirst.push(pattern);
      for (const parity of [0, 1]) {
        const offset = rarestWindow(bytes, parity);
        reach = Math.max(reach, offset + WINDOW);
        this.#mark(pattern, offset);
      }
    }
    this.#reach = reach;
    this.#byPair.close();
    this.#byByte.close();
  }

  #mark(pattern: number, offset: number): void {
    const bytes = this.#patterns[pattern]!;
    const [a, b = 0, c = 0, d] = [bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3]];
    const known = (a === undefined ? 0 : 0xff) | 0xffff00 | (d === undefined ? 0 : 0xff << 24);
    const window = (a ?? 0) | (b << 8) | (c << 16) | ((d ?? 0) << 24);
    const marks = a === undefined ? this.#byByte : this.#byPair;
    const turn = marks.add(a === undefined ? b : a | (b << 8), [window, known, pattern, offset]);
    const bit = 1 << (a === undefined ? turn % HALF_BITS : HALF_BITS + (turn % (BITS - HALF_BITS)));
    const pairs = this.#pairs;
    if (a === undefined) for (let any = 0; any < 256; any += 1) pairs[any | (b << 8)]! |= bit;
    else pairs[a | (b << 8)]! |= bit;
    if (d === undefined) for (let any = 0; any < 256; any += 1) pairs[c | (any << 8)]! |= bit << BITS;
    else pairs[c | (d << 8)]! |= bit << BITS;
  }

  /** Every match that starts at or after `from` and before `until`, in no particular order. */
  each(bytes: Uint8Array, from: number, until: number, onMatch: (at: number, pattern: number) => void): void {
    if (this.#patterns.length === 0) return;
    const look: Look = { bytes, from, until, onMatch };
    const stop = Math.min(bytes.length, until + this.#reach);
    // Two pairs may begin one byte before their pattern, and words lie at every fourth address.
    const start = from + ((4 - ((bytes.byteOffset + from) & 3)) & 3);
    const words = IS_LOWER_FIRST ? Math.max(0, (stop - start) >> 2) : 0;
    // The pairs of whatever begins between these two lie in the words.
    const [low, high] = [start + 1, start + words * 4 - this.#reach + 1];
    if (high <= low) {
      this.#oneByOne(look, from, until);
      return;
    }
    const inside: Look = { bytes, from: low, until: Math.min(until, high), onMatch };
    this.#words(inside, new Int32Array(bytes.buffer, bytes.byteOffset + start, words), start);
    this.#oneByOne(look, from, low);
    this.#oneByOne(look, high, until);
  }

  #words(look: Look, words: Int32Array, start: number): void {
    const pairs = this.#pairs;
    let before = 0;
    let previous = 0;
    for (let index = 0; index < words.length; index += 1) {
      const word = words[index]!;
      const one = pairs[word & 0xffff]!;
      const two = pairs[word >>> 16]!;
      const across = before & (one >>> BITS);
      const within = one & (two >>> BITS);
      // One branch for both: what cannot be foretold costs more than all the look-ups.
      if ((across | within) !== 0) {
        const here = start + index * 4;
        if (across !== 0) this.#compare(look, here - 2, (previous >>> 16) | (word << 16), across);
        if (within !== 0) this.#compare(look, here, word, within);
      }
      before = two;
      previous = word;
    }
  }

  /** Compares the patterns whose two pairs these four bytes may be. */
  #compare(look: Look, here: number, four: number, bits: number): void {
    if ((bits & HALF_MASK) !== 0) this.#compareThose(look, here, four, this.#byByte, (four >>> 8) & 0xff);
    if ((bits & ~HALF_MASK) !== 0) this.#compareThose(look, here, four, this.#byPair, four & 0xffff);
  }

  #compareThose({ bytes, from, until, onMatch }: Look, here: number, four: number, marks: Marks, key: number): void {
    const { rows } = marks;
    const end = marks.endOf(key);
    for (let row = marks.startOf(key); row < end; row += ROW) {
      if ((four & rows[row + 1]!) !== rows[row]!) continue;
      const [pattern, at] = [rows[row + 2]!, here - rows[row + 3]!];
      if (at >= from && at < until && this.#matches(bytes, at, pattern)) onMatch(at, pattern);
    }
  }

  /** At the edges of a text, where two pairs may lie half outside. */
  #oneByOne({ bytes, from, until, onMatch }: Look, start: number, stop: number): void {
    const end = Math.min(bytes.length, until, stop);
    for (let at = Math.max(from, start); at < end; at += 1) {
      const patterns = this.#byFirstByte[bytes[at]!];
      if (patterns === undefined) continue;
      for (const pattern of patterns) if (this.#matches(bytes, at, pattern)) onMatch(at, pattern);
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
      const isCut = (pattern: Uint8Array) => pattern.length > left && begins(pattern, bytes, at);
      const patterns = this.#byFirstByte[bytes[at]!] ?? [];
      if (patterns.some((pattern) => isCut(this.#patterns[pattern]!))) places.push(at);
    }
    return places;
  }
}

/** Numbers of a mark: the four bytes, which bits of them are known, the pattern, and where in it they begin. */
const ROW = 4;
type Mark = readonly [window: number, known: number, pattern: number, offset: number];

/** Marks by a key, one after the other once all were added. */
class Marks {
  readonly #indexes: Uint16Array;
  readonly #lists: number[][] = [[]];
  #starts = new Int32Array(0);
  rows = new Int32Array(0);

  constructor(keys: number) {
    this.#indexes = new Uint16Array(keys);
  }

  /** How many keys came before this one. */
  add(key: number, mark: Mark): number {
    if (this.#indexes[key] === 0) this.#indexes[key] = this.#lists.push([]) - 1;
    const index = this.#indexes[key]!;
    this.#lists[index]!.push(...mark);
    return index - 1;
  }

  close(): void {
    this.rows = new Int32Array(this.#lists.reduce((sum, { length }) => sum + length, 0));
    this.#starts = new Int32Array(this.#lists.length + 1);
    let at = 0;
    for (const [index, list] of this.#lists.entries()) {
      this.rows.set(list, at);
      at += list.length;
      this.#starts[index + 1] = at;
    }
  }

  startOf(key: number): number {
    return this.#starts[this.#indexes[key]!]!;
  }

  endOf(key: number): number {
    return this.#starts[this.#indexes[key]! + 1]!;
  }
}

const IS_LOWER_FIRST = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Whether the bytes from `at` on are those of the pattern, as far as both go. */
function begins(pattern: Uint8Array, bytes: Uint8Array, at: number): boolean {
  const length = Math.min(pattern.length, bytes.length - at);
  for (let i = 0; i < length; i += 1) if (bytes[at + i] !== pattern[i]) return false;
  return true;
}

/** Where the two pairs that are met least by chance begin: at 0, 2 and so on, or at -1, 1, 3. Three of the four bytes are known. */
function rarestWindow(bytes: Uint8Array, parity: number): number {
  let best = -parity;
  let least = commonness(bytes, best);
  const latest = Math.min(LATEST, bytes.length - 3);
  for (let at = best + 2; at <= latest; at += 2) {
    const here = commonness(bytes, at);
    if (here >= least) continue;
    best = at;
    least = here;
  }
  return best;
}

function commonness(bytes: Uint8Array, at: number): number {
  let all = 1;
  // Asking an array for what lies outside of it is slow.
  for (let place = at; place < at + WINDOW; place += 1)
    all *= COMMONNESS[place >= 0 && place < bytes.length ? bytes[place]! : ANY]!;
  return all;
}

const ANY = 256;
/** How often a byte stands in text, and any byte at all: rough, and only a matter of speed. */
const COMMONNESS = Uint8Array.from({ length: 257 }, (_, byte) => {
  if (byte === ANY) return 100;
  const character = String.fromCharCode(byte);
  if ("etaoinsr ".includes(character)) return 8;
  return /[a-z./:-]/.test(character) ? 4 : 1;
});
