import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Chunks } from "./long-answer.js";

function read(wire: Buffer, cuts: readonly number[]) {
  const chunks = new Chunks();
  const places = [0, ...cuts.map((cut) => cut % (wire.length + 1)).sort((a, b) => a - b), wire.length];
  const parts = places.slice(1).flatMap((to, index) => chunks.take(wire.subarray(places[index], to)));
  return { body: Buffer.concat(parts).toString("latin1"), isOver: chunks.isOver, isFollowed: chunks.isFollowed };
}

describe("a body that comes in chunks", () => {
  it("is what was sent, wherever it is cut, without extensions and trailers", () => {
    const piece = fc.tuple(
      fc.string({ minLength: 1, maxLength: 40 }),
      fc.constantFrom("", ";a=b", ' ; a="\t;0"', "  "),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }),
        fc.array(fc.constantFrom("x: 5", "y:", "z: a;b"), { maxLength: 2 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        (pieces, trailers, cuts) => {
          const sent = pieces.map(([text]) => Buffer.from(text));
          const frames = pieces.map(([, more], at) =>
            Buffer.concat([Buffer.from(`${sent[at]!.length.toString(16)}${more}\r\n`), sent[at]!, Buffer.from("\r\n")]),
          );
          const last = Buffer.from(`0\r\n${trailers.map((line) => `${line}\r\n`).join("")}\r\n`);
          const wire = Buffer.concat([...frames, last]);
          const whole = { body: Buffer.concat(sent).toString("latin1"), isOver: true, isFollowed: false };
          expect(read(wire, cuts)).toEqual(whole);
          expect(read(Buffer.concat([wire, Buffer.from("5")]), cuts)).toEqual({ ...whole, isFollowed: true });
          expect(read(wire.subarray(0, -1), cuts)).toMatchObject({ isOver: false });
        },
      ),
    );
  });

  it.each([
    ["a size with a sign", "+5\r\nhello\r\n"],
    ["a size below nothing", "-1\r\nhello\r\n"],
    ["a size of another kind", "0x5\r\nhello\r\n"],
    ["no size", "\r\nhello\r\n"],
    ["a space before the size", " 5\r\nhello\r\n"],
    ["a size too large to count", "fffffffffffffffff\r\nhello"],
    ["a size that ends in a line feed alone", "5\nhello\r\n"],
    ["a carriage return in the size", "5\r;\r\nhello\r\n"],
    ["more than its size", "5\r\nhello!\r\n"],
    ["less than its size", "5\r\nhell\r\n0\r\n\r\n"],
    ["an end of two line feeds", "0\n\n"],
    ["a trailer that ends in a line feed alone", "0\r\nx: y\n\r\n"],
    ["a line without end", "5;".padEnd(5_000, "a")],
    ["trailers without end", `0\r\n${"x: y\r\n".repeat(5_000)}`],
  ])("is not read with %s", (_name, wire) => {
    expect(() => read(Buffer.from(wire), [])).toThrow("cannot be read");
    expect(() =>
      read(
        Buffer.from(wire),
        [...wire.slice(0, 40)].map((_, at) => at),
      ),
    ).toThrow("cannot be read");
  });
});
