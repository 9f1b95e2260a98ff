// Finding any of many byte strings in one pass (Wu–Manber): a table over pairs of bytes says how far it is safe to jump.
// Used to scrub output, where the first match and the longest at its place are what counts.

export interface Match {
  readonly at: number;
  /** Index into the patterns the set was built from. */
  readonly pattern: number;
}

export class PatternSet {
  readonly #patterns: readonly Uint8Array[];
  readonly #shift = new Uint8Array(65_536);
  readonly #byEnd = new Map<number, number[]>();
  /** Pairs of bytes a pattern begins with: common endings (`es`, `st`) are mostly met in words that begin otherwise. */
  readonly #firstPairs = new Uint8Array(65_536);
  readonly #firstBytes = new Uint8Array(256);
  readonly #window: number;
  readonly longest: number;

  /** Patterns are at least two bytes long. At one place the longest wins. */
  constructor(patterns: readonly Uint8Array[]) {
    if (patterns.some(({ length }) => length < 2)) throw new RangeError("a pattern needs two bytes");
    this.#patterns = patterns;
    this.longest = Math.max(0, ...patterns.map(({ length }) => length));
    this.#window = Math.min(255, ...patterns.map(({ length }) => length));
    this.#shift.fill(this.#window - 1);
    const order = patterns.map((_, i) => i).sort((a, b) => patterns[b]!.length - patterns[a]!.length);
    for (const index of order) this.#add(index);
  }

  #add(index: number): void {
    const pattern = this.#patterns[index]!;
    this.#firstBytes[pattern[0]!] = 1;
    this.#firstPairs[(pattern[0]! << 8) | pattern[1]!] = 1;
    for (let end = 1; end < this.#window; end += 1) {
      const pair = (pattern[end - 1]! << 8) | pattern[end]!;
      this.#shift[pair] = Math.min(this.#shift[pair]!, this.#window - 1 - end);
      if (end === this.#window - 1) {
        const list = this.#byEnd.get(pair);
        if (list === undefined) this.#byEnd.set(pair, [index]);
        else list.push(index);
      }
    }
  }

  /** The first match at or after `from`, or null. */
  find(bytes: Uint8Array, from = 0): Match | null {
    if (this.#patterns.length === 0) return null;
    const shift = this.#shift;
    const firstPairs = this.#firstPairs;
    const last = this.#window - 1;
    for (let end = from + last; end < bytes.length; ) {
      const pair = (bytes[end - 1]! << 8) | bytes[end]!;
      const jump = shift[pair]!;
      if (jump > 0) {
        end += jump;
        continue;
      }
      const at = end - last;
      end += 1;
      if (firstPairs[(bytes[at]! << 8) | bytes[at + 1]!] === 0) continue;
      for (const pattern of this.#byEnd.get(pair) ?? []) {
        if (this.#matches(bytes, at, pattern)) return { at, pattern };
      }
    }
    return null;
  }

  #matches(bytes: Uint8Array, at: number, index: number): boolean {
    const pattern = this.#patterns[index]!;
    if (at + pattern.length > bytes.length) return false;
    for (let i = 0; i < pattern.length; i += 1) if (bytes[at + i] !== pattern[i]) return false;
    return true;
  }

  /** Where a match may have begun that the end of `bytes` cut off; `bytes.length` when none did. */
  openEnd(bytes: Uint8Array): number {
    for (let at = Math.max(0, bytes.length - this.longest + 1); at < bytes.length; at += 1) {
      if (this.#firstBytes[bytes[at]!] === 0) continue;
      const left = bytes.length - at;
      if (this.#patterns.some((pattern) => pattern.length > left && this.#begins(bytes, at, pattern))) return at;
    }
    return bytes.length;
  }

  #begins(bytes: Uint8Array, at: number, pattern: Uint8Array): boolean {
    for (let i = at; i < bytes.length; i += 1) if (bytes[i] !== pattern[i - at]) return false;
    return true;
  }
}
