// Removing secrets from what a program prints, before anybody or anything stores it.
import { Transform } from "node:stream";
import { PatternSet } from "./patterns.js";
import { type Secret, shapesOf } from "./secrets.js";

export interface Scrubber {
  text(text: string): string;
  bytes(bytes: Uint8Array): Buffer;
  /** A secret cut in two by a chunk's end is found too; what cannot be the start of one is passed on at once. */
  stream(): Transform;
}

/** Replaces every shape of every secret by `[redacted:<name>]`. */
export function scrubber(secrets: readonly Secret[]): Scrubber {
  const shapes = new Map<string, string>();
  for (const { name, value } of secrets) {
    for (const shape of shapesOf(value)) if (!shapes.has(shape)) shapes.set(shape, name);
  }
  const set = new PatternSet([...shapes.keys()].map((shape) => Buffer.from(shape, "utf8")));
  const lengths = [...shapes.keys()].map((shape) => Buffer.byteLength(shape));
  // A name comes from a vault that may be a stranger's, and goes to a terminal.
  const marks = [...shapes.values()].map((name) => Buffer.from(`[redacted:${name.replace(/[^\w.-]/g, "?")}]`, "utf8"));

  const scrub = (bytes: Uint8Array): { clean: Buffer; from: number } => {
    const parts: Uint8Array[] = [];
    let from = 0;
    for (let match = set.find(bytes); match !== null; match = set.find(bytes, from)) {
      parts.push(bytes.subarray(from, match.at), marks[match.pattern]!);
      from = match.at + lengths[match.pattern]!;
    }
    return { clean: Buffer.concat(parts), from };
  };
  const all = (bytes: Uint8Array): Buffer => {
    const { clean, from } = scrub(bytes);
    return Buffer.concat([clean, bytes.subarray(from)]);
  };

  return {
    text: (text) => all(Buffer.from(text, "utf8")).toString("utf8"),
    bytes: all,
    stream() {
      let held: Uint8Array = Buffer.alloc(0);
      return new Transform({
        transform(chunk: Buffer, _encoding, done) {
          const { clean, rest } = scrubOpen(
            set,
            lengths,
            marks,
            held.length === 0 ? chunk : Buffer.concat([held, chunk]),
          );
          held = rest;
          done(null, clean);
        },
        flush(done) {
          done(null, all(held));
        },
      });
    },
  };
}

/** Like a whole scrub, but a match near the end waits while a longer one could still begin at or before it. */
function scrubOpen(
  set: PatternSet,
  lengths: readonly number[],
  marks: readonly Buffer[],
  bytes: Uint8Array,
): { clean: Buffer; rest: Uint8Array } {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (;;) {
    const match = set.find(bytes, from);
    const open = from + set.openEnd(bytes.subarray(from));
    if (match === null || open <= match.at) {
      parts.push(bytes.subarray(from, open));
      return { clean: Buffer.concat(parts), rest: Buffer.from(bytes.subarray(open)) };
    }
    parts.push(bytes.subarray(from, match.at), marks[match.pattern]!);
    from = match.at + lengths[match.pattern]!;
  }
}
