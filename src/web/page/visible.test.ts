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
  const at = "2026-01-02T23:04:05Z";
  expect(clock(at).slice(0, 5)).toBe(day(at).slice(-5));
  expect(clock("nonsense")).toBe("");
});
