// Each promise of ARCHITECTURE.md is held by tests that name it, and a kept breakage says that they wake when it is broken.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readLists } from "../scripts/mutate/lists.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const ENOUGH = 3;

const promises = [...readFileSync(join(root, "ARCHITECTURE.md"), "utf8").matchAll(/^- \*\*(P\d+)\*\* /gm)].map(
  ([, id]) => id!,
);
const breakages = readLists(root);

const named = (file: string): string[] =>
  [...readFileSync(join(root, file), "utf8").matchAll(/\[(P\d+)\]/g)].map(([, id]) => id!);

function testFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name));
}

describe("the promises", () => {
  it("are numbered without a gap", () => {
    expect(promises.length).toBeGreaterThan(0);
    expect(promises).toEqual(promises.map((_, index) => `P${index + 1}`));
  });

  it.each(promises)("%s is named by a test that some breakage of it wakes", (id) => {
    const breaking = breakages.filter(({ promise, survives }) => promise === id && survives === undefined);
    expect(breaking.length).toBeGreaterThanOrEqual(ENOUGH);
    const woken = new Set(breaking.flatMap(({ tests }) => tests));
    expect([...woken].filter((file) => named(file).includes(id))).not.toEqual([]);
  });

  it("are the only ones that tests and breakages name", () => {
    const used = [...["src", "tests"].flatMap(testFiles).flatMap(named), ...breakages.map(({ promise }) => promise)];
    expect([...new Set(used)].filter((id) => id !== null && !promises.includes(id))).toEqual([]);
  });
});
