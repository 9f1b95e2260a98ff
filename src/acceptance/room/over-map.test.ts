import { expect, it } from "vitest";
import { OverMap } from "./over-map.js";

/** The same by copying. */
function copied(below: ReadonlyMap<string, number>, own: ReadonlyMap<string, number>, gone: ReadonlySet<string>) {
  const all = new Map(below);
  for (const key of gone) all.delete(key);
  for (const [key, value] of own) all.set(key, value);
  return all;
}

it.each<[string, [string, number][], string[]]>([
  ["nothing", [], []],
  ["new entries", [["x", 9]], []],
  [
    "replaced entries, in their place",
    [
      ["b", 7],
      ["a", 8],
    ],
    [],
  ],
  ["entries that are gone", [], ["a", "nowhere"]],
  ["entries that are gone and there again", [["a", 7]], ["a", "b"]],
])("is with %s what a copy is", (_, rows, names) => {
  const below = new Map(Object.entries({ a: 1, b: 2, c: 3 }));
  const [own, gone] = [new Map(rows), new Set(names)];
  const [over, copy] = [new OverMap(below, own, gone), copied(below, own, gone)];
  expect([...over]).toEqual([...copy]);
  expect([...over.keys(), ...over.values(), over.size]).toEqual([...copy.keys(), ...copy.values(), copy.size]);
  for (const key of ["a", "b", "c", "x", "nowhere"]) {
    expect([over.get(key), over.has(key)]).toEqual([copy.get(key), copy.has(key)]);
  }
  const seen: [string, number][] = [];
  over.forEach((value, key) => {
    seen.push([key, value]);
  });
  expect(seen).toEqual([...copy]);
});
