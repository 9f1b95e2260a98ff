import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MethodWatch } from "./judge.js";

const isRefused = (body: Buffer, cuts: readonly number[]): boolean => {
  const watch = new MethodWatch();
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length];
  try {
    for (const [index, to] of places.slice(1).entries()) watch.push(body.subarray(places[index], to));
    watch.end();
    return false;
  } catch {
    return true;
  }
};

/** One letter in one of the ways it may be written. */
const spelled = (letter: string) => {
  const hex = letter.charCodeAt(0).toString(16);
  return fc.constantFrom(letter, letter.toUpperCase(), `%${hex}`, `%${hex.toUpperCase()}`, `\\u00${hex}`);
};
const field = fc
  .tuple(fc.constantFrom("_", ".").chain(spelled), ...[..."method"].map(spelled))
  .map((letters) => letters.join(""));
const filling = fc
  .tuple(fc.nat(300), fc.constantFrom("x", "%", "\\u006", "meth", " a=b&"))
  .map(([n, text]) => text.repeat(n));
const near = (place: number) =>
  fc.array(
    fc.integer({ min: -70, max: 70 }).map((by) => Math.max(0, place + by)),
    { maxLength: 4 },
  );

describe("a method in a body", () => {
  it("is seen in every spelling, wherever it lies and wherever the body is cut", () => {
    const body = fc.tuple(filling, field, fc.constantFrom("=DELETE", '":"PUT"', "[]=x", "%3dPUT"), filling);
    fc.assert(
      fc.property(
        body.chain(([before, name, after, rest]) =>
          fc.tuple(fc.constant(`${before}&${name}${after}${rest}`), near(before.length)),
        ),
        ([text, cuts]) => {
          expect(isRefused(Buffer.from(text), cuts)).toBe(true);
        },
      ),
      { numRuns: 600 },
    );
  });

  it("is not seen in a longer word, wherever the body is cut", () => {
    fc.assert(
      fc.property(fc.nat(300), fc.array(fc.nat(400), { maxLength: 5 }), (length, cuts) => {
        const body = `${"z".repeat(length)}my_method=1&a_methods=2&method=3&x_method_name=4`;
        expect(isRefused(Buffer.from(body), cuts)).toBe(false);
      }),
    );
  });

  it("is seen at the beginning of a body and at its end", () => {
    expect(["_method=PUT", "a=1&_method"].map((text) => isRefused(Buffer.from(text), []))).toEqual([true, true]);
  });
});
