import fc from "fast-check";
import { expect, it } from "vitest";
import { PairScan } from "./pair-scan.js";

const text = (minLength: number, maxLength: number) =>
  fc.string({ minLength, maxLength, unit: fc.constantFrom("a", "b", "_", ".") });

it("finds every place of every pattern between two bounds, wherever in memory the text lies", () => {
  fc.assert(
    fc.property(
      fc.array(text(3, 7), { minLength: 1, maxLength: 6 }),
      text(0, 80),
      fc.nat(80),
      fc.nat(80),
      fc.nat(3),
      (patterns, where, from, until, shift) => {
        const bytes = Buffer.alloc(shift + where.length).subarray(shift);
        bytes.write(where, "latin1");
        const found: string[] = [];
        new PairScan(patterns.map((one) => Buffer.from(one))).each(bytes, from, until, (at, pattern) =>
          found.push(`${at} ${pattern}`),
        );
        const expected = patterns.flatMap((one, index) =>
          [...where.slice(0, until)]
            .map((_, at) => at)
            .filter((at) => at >= from && where.startsWith(one, at))
            .map((at) => `${at} ${index}`),
        );
        expect(found.sort()).toEqual(expected.sort());
      },
    ),
  );
});
