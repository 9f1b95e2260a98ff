import { describe, expect, it } from "vitest";
import { earliestExpiry, expiryState, parseExpiry, parseTime } from "./expiry.js";

const NOW = new Date("2026-03-14T10:00:00Z");

describe("parseTime", () => {
  it("reads RFC 3339 and nothing else", () => {
    expect(parseTime("2026-03-14T10:00:00Z")).toBe(NOW.getTime());
    expect(parseTime("2026-03-14t12:00:00+02:00")).toBe(NOW.getTime());
    for (const text of ["2026-03-14", "2026-03-14T10:00:00", "14 March 2026", "1773482400000", "", "never"]) {
      expect(parseTime(text), text).toBeNull();
    }
    expect(parseTime("2026-13-45T10:00:00Z")).toBeNull();
  });
});

describe("parseExpiry", () => {
  it.each([
    ["90m", "2026-03-14T11:30:00Z"],
    ["12h", "2026-03-14T22:00:00Z"],
    ["7d", "2026-03-21T10:00:00Z"],
    ["2w", "2026-03-28T10:00:00Z"],
    ["2026-03-21", "2026-03-21T23:59:59Z"],
    ["2026-03-21T10:00:00Z", "2026-03-21T10:00:00Z"],
  ])("reads %s", (text, expected) => expect(parseExpiry(text, NOW)).toBe(expected));

  it.each(["2026-03-13", "2026-03-14T10:00:00Z", "0d", "2026-02-31", "soon", "-1d", "7"])("refuses %s", (text) => {
    expect(() => parseExpiry(text, NOW)).toThrow(expect.objectContaining({ code: "EXPIRY_INVALID" }));
  });
});

describe("earliestExpiry", () => {
  it("is the first to come, in whatever order they are given", () => {
    const [early, late] = ["2026-03-15T00:00:00Z", "2026-04-01T00:00:00Z"];
    expect(earliestExpiry([late, undefined, early])).toBe(early);
    expect(earliestExpiry([early, late])).toBe(early);
    expect(earliestExpiry([undefined])).toBeNull();
  });

  it("is the one nobody can read, when there is one", () => {
    expect(earliestExpiry(["2026-03-15T00:00:00Z", "next week"])).toBe("next week");
    expect(earliestExpiry(["1960-01-01T00:00:00Z", "next week"])).toBe("next week");
  });
});

describe("expiryState", () => {
  it.each([
    [null, "no_expiry"],
    ["2026-03-14T09:59:59Z", "expired"],
    ["2026-03-14T10:00:00Z", "expired"],
    ["2026-03-14T10:00:01Z", "expiring_soon"],
    ["2026-03-21T09:00:00Z", "expiring_soon"],
    ["2026-03-21T10:00:00Z", "valid"],
    ["next week", "unreadable"],
  ])("of %s is %s", (expires, state) => expect(expiryState(expires, NOW)).toBe(state));
});
