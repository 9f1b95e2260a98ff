import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linesOf } from "./listing.js";
import { diffListings } from "./listing-diff.js";

/** Short names and few stamps, so that two lists have much in common. */
const records = fc.uniqueArray(
  fc.record({
    path: fc.string({ unit: fc.constantFrom("a", "b", "/", "é", " ", "\n"), maxLength: 4 }),
    stamp: fc.integer({ min: 0, max: 2 }),
    target: fc.constantFrom("", "", "", "to", "f 644 1 1 1.0 a"),
  }),
  { selector: ({ path }) => path, maxLength: 60 },
);
type Listed = { path: string; stamp: number; target: string };
const listing = (all: readonly Listed[]) =>
  Buffer.from(all.map(({ path, stamp, target }) => `f 644 1 ${stamp} 1.0 ${path}\0${target}\0`).join(""));

function check(before: Buffer, after: Buffer): void {
  const { same, gone, come, count } = diffListings(before, after);
  const [old, now] = [[...linesOf(before)], [...linesOf(after)]];
  expect(count).toBe(now.length);
  const pairs = same.flatMap(({ before, after, count }) =>
    Array.from({ length: count }, (_, i) => [before + i, after + i] as const),
  );
  for (const [left, right] of pairs) expect(old[left]).toEqual(now[right]);
  // Every record is said of once.
  const said = (lines: readonly { at: number }[], side: 0 | 1) =>
    [...lines.map(({ at }) => at), ...pairs.map((pair) => pair[side])].sort((a, b) => a - b);
  expect(said(gone, 0)).toEqual([...old.keys()]);
  expect(said(come, 1)).toEqual([...now.keys()]);
  for (const { path, line, at } of gone) expect(old[at]).toEqual([path, line]);
  for (const { path, line, at } of come) expect(now[at]).toEqual([path, line]);
  // What both hold is never said to differ.
  const lines = new Set(old.map(([, line]) => line));
  expect(come.filter(({ line }) => lines.has(line))).toEqual([]);
}

describe("two listings", () => {
  it("are told apart record by record, in whatever order they come", () => {
    fc.assert(
      fc.property(records, records, fc.nat(), (before, after, cut) => {
        check(listing(before), listing(after));
        // A list that was changed here and there, and one with its halves exchanged.
        const edited = before.flatMap((record, i) =>
          (i * 7 + cut) % 11 === 0 ? [] : (i + cut) % 5 === 0 ? [{ ...record, stamp: 3 }] : [record],
        );
        check(listing(before), listing([...edited, ...after.filter(({ path }) => path.length > 3)]));
        const half = before.length === 0 ? 0 : cut % before.length;
        check(listing(before), listing([...before.slice(half), ...before.slice(0, half)]));
      }),
    );
  });

  it("of which one holds much more are told apart as well", () => {
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ path: `${name}${i}`, stamp: 0, target: "" }));
    const [start, end] = [many("s", 300), many("e", 300)];
    const [small, large] = [listing([...start, ...end]), listing([...start, ...many("m", 5_000), ...end])];
    check(small, large);
    check(large, small);
    expect(diffListings(small, large).gone).toEqual([]);
    check(Buffer.alloc(0), small);
    check(small, Buffer.alloc(0));
  });
});
