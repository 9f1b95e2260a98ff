import { expect, it } from "vitest";
import { readPath } from "./path-rules.js";

it.each(["//a", "/a//b", "/a///"])("does not read %s, which servers read differently", (path) => {
  expect(readPath(path)).toEqual({ why: expect.stringContaining("//") });
});

it("takes a slash at the end for an empty last segment", () => {
  expect(readPath("/a/")).toEqual({ segments: ["a", ""] });
});
