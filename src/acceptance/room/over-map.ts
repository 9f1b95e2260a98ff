// A map with some entries of its own over another map that nobody changes: a tree has a hundred thousand entries, of which a
// layer changes a few, and there is a layer for every altered check.

export class OverMap<V> implements ReadonlyMap<string, V> {
  readonly #below: ReadonlyMap<string, V>;
  readonly #own: ReadonlyMap<string, V>;
  readonly #gone: ReadonlySet<string>;
  readonly size: number;

  /** `gone` are keys that are below and not here, unless they are among its own. */
  constructor(below: ReadonlyMap<string, V>, own: ReadonlyMap<string, V>, gone: ReadonlySet<string>) {
    this.#below = below;
    this.#own = own;
    this.#gone = gone;
    let size = below.size;
    for (const key of gone) if (below.has(key) && !own.has(key)) size -= 1;
    for (const key of own.keys()) if (!below.has(key)) size += 1;
    this.size = size;
  }

  get(key: string): V | undefined {
    return this.#own.get(key) ?? (this.#gone.has(key) ? undefined : this.#below.get(key));
  }

  has(key: string): boolean {
    return this.#own.has(key) || (!this.#gone.has(key) && this.#below.has(key));
  }

  /** What is replaced keeps its place, as in a map: a folder stays before what it holds. */
  *entries(): MapIterator<[string, V]> {
    for (const entry of this.#below) {
      if (this.#gone.has(entry[0])) continue;
      const own = this.#own.get(entry[0]);
      yield own === undefined ? entry : [entry[0], own];
    }
    for (const entry of this.#own) if (this.#gone.has(entry[0]) || !this.#below.has(entry[0])) yield entry;
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  forEach(visit: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }
}
