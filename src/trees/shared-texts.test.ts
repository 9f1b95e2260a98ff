import { describe, expect, it } from "vitest";
import { sharingTexts } from "./shared-texts.js";
import type { StampedEntry, TreeEntry } from "./tree.js";

type Own<T> = { -readonly [K in keyof T]: T[K] };
const file = (hash: string): Own<TreeEntry> => ({ type: "file", executable: false, size: 1, hash });
const tree = (...rows: [string, string][]) => new Map(rows.map(([path, hash]) => [path, file(hash)]));
const stamped = (stamp: string, ...rows: [string, string][]) =>
  new Map(rows.map(([path, hash]): [string, Own<StampedEntry>] => [path, { ...file(hash), stamp }]));

describe("looks at the same tree", () => {
  it("are one where no look has stamps of its own", () => {
    const first = sharingTexts(tree(["a", "1"], ["b", "2"]));
    expect(sharingTexts(tree(["a", "1"], ["b", "2"]))).toBe(first);
  });

  it.each([
    ["content", tree(["a", "1"], ["b", "3"])],
    ["name", tree(["a", "1"], ["c", "2"])],
    ["number", tree(["a", "1"])],
    ["kind", new Map(tree(["a", "1"], ["b", "2"])).set("b", { ...file("2"), type: "link" })],
    ["mode", new Map(tree(["a", "1"], ["b", "2"])).set("b", { ...file("2"), executable: true })],
  ])("are two where a %s differs", (_, other) => {
    sharingTexts(tree(["a", "1"], ["b", "2"]));
    const before = structuredClone([...other]);
    const second = sharingTexts(other);
    expect(second).toBe(other);
    expect([...second]).toEqual(before);
  });

  it("keep their own stamps", () => {
    const first = sharingTexts(stamped("one", ["a", "1"], ["b", "2"]));
    const second = sharingTexts(stamped("two", ["a", "1"], ["b", "2"]));
    expect([...first]).toEqual([...stamped("one", ["a", "1"], ["b", "2"])]);
    expect([...second]).toEqual([...stamped("two", ["a", "1"], ["b", "2"])]);
  });

  it("are two where one has stamps and the other none", () => {
    const first = sharingTexts(tree(["a", "1"]));
    const second = sharingTexts(stamped("two", ["a", "1"]));
    expect(second.get("a")?.stamp).toBe("two");
    expect([...first]).toEqual([...tree(["a", "1"])]);
  });
});
