// What a client asks, seen while it goes by.

/** As much of a statement as is recorded. */
const MOST_KEPT = 4_096;
const MOST_STATEMENTS = 1_000;

/** As much of it as is kept, and how many bytes more there were. */
export interface Seen {
  readonly text: string;
  readonly more: number;
}

/**
 * Sees statements go by in what a client sends, whatever pieces it comes in, and keeps no more than their beginnings. Every
 * message is counted before its last byte is passed on: a statement that is not allowed never comes to its end.
 */
export class Watch {
  readonly #onStatement: (seen: Seen) => void;
  readonly #prepared = new Map<string, Seen>();
  readonly #portals = new Map<string, Seen>();
  #head = Buffer.alloc(0);
  #type = "";
  #left = 0;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #size = 0;

  constructor(onStatement: (seen: Seen) => void) {
    this.#onStatement = onStatement;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        const need = 5 - this.#head.length;
        this.#head = Buffer.concat([this.#head, chunk.subarray(at, at + need)]);
        at += need;
        if (this.#head.length < 5) return;
        this.#type = String.fromCharCode(this.#head[0]!);
        this.#left = this.#head.readInt32BE(1) - 4;
        this.#size = this.#left;
        this.#head = Buffer.alloc(0);
        if (this.#left < 0 || !KNOWN.includes(this.#type)) throw new Error("a message nobody sends");
        if (this.#left > 0) continue;
      } else {
        const piece = chunk.subarray(at, at + this.#left);
        at += piece.length;
        this.#left -= piece.length;
        if (READ.includes(this.#type) && this.#keptBytes < MOST_KEPT) {
          const kept = Buffer.from(piece.subarray(0, MOST_KEPT - this.#keptBytes));
          this.#kept.push(kept);
          this.#keptBytes += kept.length;
        }
        if (this.#left > 0) return;
      }
      const body = this.#kept.length === 0 ? "" : Buffer.concat(this.#kept).toString("utf8");
      this.#kept = [];
      this.#keptBytes = 0;
      this.#message(body);
    }
  }

  #message(body: string): void {
    const [first = "", second = ""] = body.split("\0", 2);
    const more = Math.max(0, this.#size - MOST_KEPT);
    if (this.#type === "Q") this.#onStatement({ text: first, more });
    else if (this.#type === "P") remember(this.#prepared, first, { text: second, more });
    else if (this.#type === "B") remember(this.#portals, first, this.#prepared.get(second) ?? UNKNOWN);
    else if (this.#type === "E") this.#onStatement(this.#portals.get(first) ?? UNKNOWN);
  }
}

/** Query, Parse, Bind, Execute, Describe, Close, Flush, Sync, Copy (data, done, fail), Terminate. No fast path. */
const KNOWN = ["Q", "P", "B", "E", "D", "C", "H", "S", "d", "c", "f", "X"];
const READ = ["Q", "P", "B", "E"];

const UNKNOWN: Seen = { text: "a prepared statement", more: 0 };

function remember(map: Map<string, Seen>, key: string, value: Seen): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST_STATEMENTS) map.delete(map.keys().next().value!);
}
