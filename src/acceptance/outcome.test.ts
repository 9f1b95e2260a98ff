import { describe, expect, it } from "vitest";
import { contains } from "./outcome.js";

describe("contains", () => {
  it.each([
    ["nothing wanted", undefined, null],
    ["a part that is there", "lo wo", null],
    ["all of several", ["hello", "world"], null],
    ["one that is not", "bye", 'standard output does not contain "bye"'],
    ["the second of several", ["hello", "bye"], 'standard output does not contain "bye"'],
  ])("with %s", (_, wanted, reason) => {
    expect(contains("hello world", wanted, "standard output")).toEqual(
      reason === null ? null : { status: "failed", failure: "assertion", reason },
    );
  });
});
