// Removing secrets from what a program prints, before anybody or anything stores it.
import { Transform } from "node:stream";
import { PatternScan } from "./pattern-scan.js";
import { type Secret, shapesOf } from "./secrets.js";

export interface Scrubber {
  text(text: string): string;
  bytes(bytes: Uint8Array): Buffer;
  /** A secret cut in two by a chunk's end is found too; what cannot be the start of one is passed on at once. */
  stream(): Transform;
}

/** Replaces every shape of every secret by `[redacted:<name>]`. */
export function scrubber(secrets: readonly Secret[]): Scrubber {
  const shapes = new Shapes(secrets);
  const whole = (bytes: Uint8Array): Buffer => shapes.scrub(bytes, { isLast: true }).clean;
  return {
    text: (text) => whole(Buffer.from(text, "utf8")).toString("utf8"),
    bytes: whole,
    stream() {
      let held: Uint8Array = Buffer.alloc(0);
      return new Transform({
        transform(chunk: Buffer, _encoding, done) {
          const { clean, rest } = shapes.scrub(held.length === 0 ? chunk : Buffer.concat([held, chunk]), {
            isLast: false,
          });
          held = Buffer.from(rest);
          done(null, clean);
        },
        flush(done) {
          done(null, whole(held));
        },
      });
    },
  };
}

interface Match {
  readonly at: number;
  readonly end: number;
  readonly mark: Buffer;
}

class Shapes {
  readonly #scan: PatternScan;
  readonly #shapes: readonly Uint8Array[];
  readonly #marks: readonly Buffer[];

  constructor(secrets: readonly Secret[]) {
    const names = new Map<string, string>();
    for (const { name, value } of secrets) {
      for (const shape of shapesOf(value)) if (!names.has(shape)) names.set(shape, name);
    }
    this.#shapes = [...names.keys()].map((shape) => Buffer.from(shape, "utf8"));
    this.#scan = new PatternScan(this.#shapes);
    // A name comes from a vault that may be a stranger's, and goes to a terminal.
    this.#marks = [...names.values()].map((name) => Buffer.from(`[redacted:${name.replace(/[^\w.-]/g, "?")}]`, "utf8"));
  }

  /** The bytes without secrets; of bytes that go on, `rest` is what must wait, because a secret may have begun there. */
  scrub(bytes: Uint8Array, { isLast }: { readonly isLast: boolean }): { clean: Buffer; rest: Uint8Array } {
    const waiting = isLast ? [] : this.#scan.cutOff(bytes);
    const parts: Uint8Array[] = [];
    let from = 0;
    for (const { at, end, mark } of this.#matches(bytes)) {
      if (at < from) continue;
      // A longer secret may begin here or earlier: what comes next decides.
      if (waiting.some((place) => place >= from && place <= at)) break;
      parts.push(bytes.subarray(from, at), mark);
      from = end;
    }
    const stop = waiting.find((place) => place >= from) ?? bytes.length;
    parts.push(bytes.subarray(from, stop));
    return { clean: Buffer.concat(parts), rest: bytes.subarray(stop) };
  }

  /** In order of their places; where two begin together, the longer first. */
  #matches(bytes: Uint8Array): Match[] {
    const matches: Match[] = [];
    this.#scan.each(bytes, 0, bytes.length, (at, shape) => {
      matches.push({ at, end: at + this.#shapes[shape]!.length, mark: this.#marks[shape]! });
    });
    return matches.sort((a, b) => a.at - b.at || b.end - a.end);
  }
}
