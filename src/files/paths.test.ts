import fc from "fast-check";
import { expect, it } from "vitest";
import { byBytes, foldersAbove } from "./paths.js";

it("orders names as their bytes in UTF-8 stand", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "/", ".", "é", "\ufffd", "😀", "\ue000") });
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(Math.sign(byBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

it("names every folder above a path, and no path itself", () => {
  expect([...foldersAbove(["a/b/c", "a/d", "e", "a/b/f/g"])].sort()).toEqual(["a", "a/b", "a/b/f"]);
});
