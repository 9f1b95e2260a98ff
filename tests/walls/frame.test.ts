import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { attacks, PARTS, page, ROOT } from "./frame.js";

const all = attacks();

describe("the table of attacks", () => {
  it("has every part, ids of its own, and at least 120 attacks", () => {
    expect([...new Set(all.map(({ part }) => part))].sort()).toEqual([...PARTS].sort());
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all.filter(({ id, part }) => !id.startsWith(`${part}-`))).toEqual([]);
    expect(all.length).toBeGreaterThanOrEqual(80);
    expect(all.reduce((sum, { cases }) => sum + cases, 0)).toBeGreaterThanOrEqual(120);
  });

  it.each(all.map(({ id, file, test }) => [id, file, test]))("%s is tried by %s: %s", (_, file, test) => {
    expect(existsSync(join(ROOT, file))).toBe(true);
    expect(readFileSync(join(ROOT, file), "utf8")).toContain(test);
  });

  it("is what README.md shows", async () => {
    await expect(page(all)).toMatchFileSnapshot("./README.md");
  });
});
