import { describe, expect, it } from "vitest";
import { z } from "zod";
import { flag, positional, rest, typedFields } from "./fields.js";

describe("typedFields", () => {
  it("reads names, places, choices and repetition from the schema", () => {
    const input = z.object({
      dir: positional(z.string().optional(), { about: "where" }),
      words: positional(z.array(z.string()).default([]), { name: "word", about: "what" }),
      dryRun: flag(z.boolean().default(false), { short: "n", about: "only look" }),
      level: flag(z.enum(["low", "high"]).default("low"), { value: "<level>", about: "effort" }),
      deps: flag(z.array(z.coerce.number()).optional(), { name: "after", value: "<id>", about: "what comes first" }),
      max_size: flag(z.coerce.number().int().positive().optional(), { value: "<n>", about: "at most" }),
      command: rest(z.array(z.string()).default([])),
      typedByNobody: z.string().optional(),
    });
    expect(typedFields(input)).toEqual({
      positionals: [
        { name: "dir", field: "dir", about: "where", optional: true },
        { name: "word", field: "words", about: "what", optional: true, many: true },
      ],
      flags: {
        "dry-run": { field: "dryRun", short: "n", about: "only look" },
        level: { field: "level", value: "<level>", about: "effort", choices: ["low", "high"] },
        after: { field: "deps", value: "<id>", about: "what comes first", many: true },
        "max-size": { field: "max_size", value: "<n>", about: "at most" },
      },
      rest: "command",
    });
  });

  it("lets one schema be typed in two ways", () => {
    const shared = z.string();
    const byName = z.object({ title: flag(shared, { value: "<title>", about: "its name" }) });
    const byPlace = z.object({ title: positional(shared, { about: "its name" }) });
    expect(Object.keys(typedFields(byName).flags)).toEqual(["title"]);
    expect(typedFields(byPlace)).toMatchObject({ flags: {}, positionals: [{ name: "title" }] });
  });

  it("refuses a switch with a placeholder and a value without one", () => {
    const odd = z.object({ force: flag(z.boolean().default(false), { value: "<yes>", about: "all the same" }) });
    const bare = z.object({ title: flag(z.string(), { about: "its name" }) });
    expect(() => typedFields(odd)).toThrow(/force/);
    expect(() => typedFields(bare)).toThrow(/title/);
  });
});
