import fc from "fast-check";
import { expect, it } from "vitest";
import { PatternScan } from "./pattern-scan.js";

const text = (minLength: number, maxLength: number) =>
  fc.string({ minLength, maxLength, size: "max", unit: fc.constantFrom("a", "b", "_", ".") });

/** Some patterns, often more of them than a pair has bits for, and a text that is made of them and of other things. */
const searched = fc
  .array(text(3, 7), { minLength: 1, maxLength: 60 })
  .chain((patterns) =>
    fc.tuple(fc.constant(patterns), fc.array(fc.oneof(fc.constantFrom(...patterns), text(0, 4)), { maxLength: 12 })),
  );

it("finds every place of every pattern between two bounds, wherever in memory the text lies", () => {
  let matches = 0;
  fc.assert(
    fc.property(searched, fc.nat(12), fc.nat(80), fc.nat(3), ([patterns, pieces], from, length, shift) => {
      const where = pieces.join("");
      const until = from + length;
      const bytes = Buffer.alloc(shift + where.length).subarray(shift);
      bytes.write(where, "latin1");
      const found: string[] = [];
      new PatternScan(patterns.map((one) => Buffer.from(one))).each(bytes, from, until, (at, pattern) =>
        found.push(`${at} ${pattern}`),
      );
      const expected = patterns.flatMap((one, index) =>
        [...where.slice(0, until)]
          .map((_, at) => at)
          .filter((at) => at >= from && where.startsWith(one, at))
          .map((at) => `${at} ${index}`),
      );
      matches += expected.length;
      expect(found.sort()).toEqual(expected.sort());
    }),
    { numRuns: 300 },
  );
  // Otherwise it would have looked at texts with nothing in them.
  expect(matches).toBeGreaterThan(300);
});

it("tells where the end of a text cut a pattern off", () => {
  fc.assert(
    fc.property(searched, ([patterns, pieces]) => {
      const where = pieces.join("");
      const expected = [...where]
        .map((_, at) => at)
        .filter((at) => patterns.some((one) => one.length > where.length - at && one.startsWith(where.slice(at))));
      expect(new PatternScan(patterns.map((one) => Buffer.from(one))).cutOff(Buffer.from(where))).toEqual(expected);
    }),
  );
});
