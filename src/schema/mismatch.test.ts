import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mismatchLine } from "./mismatch.js";
import { Timestamp } from "./shared.js";

const Schema = z.strictObject({
  text: z.string().min(2).max(3),
  count: z.int().min(1),
  ratio: z.number().max(1),
  list: z.array(z.string()).min(1),
  fields: z.record(z.string(), z.string()),
  on: z.boolean(),
  level: z.enum(["low", "high"]),
  at: Timestamp,
  own: z.string().regex(/^a/, "must begin with a"),
  either: z.union([z.string(), z.number()]),
  row: z.union([z.string(), z.object({ name: z.string() })]),
});
const RIGHT = {
  text: "ab",
  count: 1,
  ratio: 0.5,
  list: ["a"],
  fields: {},
  on: true,
  level: "low",
  at: "2026-03-14T10:00:00Z",
  own: "a",
  either: 1,
  row: "a",
};

describe("what is wrong with a document", () => {
  it.each([
    [{ text: 3 }, "text: must be text"],
    [{ text: undefined }, "text: is missing"],
    [{ text: "a" }, "text: must be at least 2 characters long"],
    [{ text: "abcd" }, "text: must be at most 3 characters long"],
    [{ count: 1.5 }, "count: must be a whole number"],
    [{ count: 0 }, "count: must be at least 1"],
    [{ ratio: 2 }, "ratio: must be at most 1"],
    [{ list: "a" }, "list: must be a list"],
    [{ list: [] }, "list: must not be empty"],
    [{ list: [1] }, "list.0: must be text"],
    [{ fields: [] }, "fields: must be an object"],
    [{ on: "yes" }, "on: must be true or false"],
    [{ level: "High" }, "level: must be one of low, high"],
    [{ at: "soon" }, "at: must be a time such as 2026-03-14T10:00:00Z"],
    [{ own: "b" }, "own: must begin with a"],
    [{ either: true }, "either: must be text or a number"],
    [{ row: 3 }, "row: must be text or an object"],
    [{ row: { name: 3 } }, "row: name: must be text"],
    [{ bogus: 1 }, "document: there is no field bogus"],
  ])("%j", (change, words) => {
    const parsed = Schema.safeParse({ ...RIGHT, ...change });
    expect(parsed.error?.issues.map((issue) => mismatchLine(issue))).toEqual([words]);
  });
});
