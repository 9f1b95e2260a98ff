import { expect, it } from "vitest";
import { clock, day, effort } from "./visible.js";

it.each([
  ["PT6H", "6 h"],
  ["P2DT1H30M", "2 days 1 h 30 min"],
  ["P1D", "1 day"],
  ["about a week", "about a week"],
  ["P", "P"],
])("says an effort as people do: %s", (text, words) => {
  expect(effort(text)).toBe(words);
});

it("tells the time of day as it tells the day: where the reader is", () => {
  const before = process.env.TZ;
  process.env.TZ = "Asia/Tokyo";
  try {
    expect([day("2026-01-02T23:04:05Z"), clock("2026-01-02T23:04:05Z")]).toEqual(["3 Jan 2026, 08:04", "08:04:05"]);
    expect(clock("nonsense")).toBe("");
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});
