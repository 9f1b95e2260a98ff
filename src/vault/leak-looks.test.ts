// A rule is asked only where a cheap look at the bytes lets it: that look may never hide what the rule would find.
import fc from "fast-check";
import { expect, it } from "vitest";
import { KEYWORDS, loadLeakRules } from "./leak-rules.js";

const TOKEN = "aB3dE6gH9jK2mN5pQ8";
it.each([
  [
    "authorization",
    ["Authorization", "AUTHORIZATION", '"', " ", ":", ",", ": Bearer ", ':"ApiKey ', "GenieKey ", TOKEN],
  ],
  ["npmrc-auth", ["_auth", " ", "=", '"', "\n", TOKEN]],
])("a look before the rule %s lets all through that it finds", async (id, pieces) => {
  let found = 0;
  const looks = KEYWORDS.filter(({ rule }) => rule === id);
  const { find } = (await loadLeakRules()).get(id)!;
  const parts = fc.array(fc.constantFrom(...pieces), { minLength: 3, maxLength: 8, size: "max" });
  fc.assert(
    fc.property(parts, (chosen) => {
      const text = chosen.join("");
      const bytes = Buffer.from(text, "latin1");
      const passes = ({ text: word, tail }: (typeof looks)[number], at: number) =>
        text.startsWith(word, at) && (tail as (bytes: Uint8Array, from: number) => boolean)(bytes, at + word.length);
      for (const [start, end] of find(text)) {
        found += 1;
        const places = Array.from({ length: end - start }, (_, nth) => start + nth);
        expect(
          places.some((at) => looks.some((look) => passes(look, at))),
          text,
        ).toBe(true);
      }
    }),
    { numRuns: 5000 },
  );
  expect(found).toBeGreaterThan(20);
});
