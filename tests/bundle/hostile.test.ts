import { lstatSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openBundle, unpackBundle } from "../../src/bundle/index.js";
import { NutError } from "../../src/errors.js";
import { CASES, type Case } from "./hostile-cases.js";
import { temporaryFolder } from "./temp.js";

const root = temporaryFolder();

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => {
      const found = lstatSync(join(folder, path));
      expect(found.isFile() || found.isDirectory()).toBe(true);
      expect(found.mode & 0o7000).toBe(0);
      return found.isFile();
    })
    .sort();
}

// Some take a while to make, and are looked at twice.
const made = new Map<Case, Buffer>();
function bytesOf(one: Case): Buffer {
  const bytes = made.get(one) ?? one.bytes();
  made.set(one, bytes);
  return bytes;
}

async function outcome(one: Case): Promise<{ code: string } | { files: string[] }> {
  const box = mkdtempSync(join(root, "case-"));
  const inside = join(box, "inside");
  mkdirSync(inside);
  const bundle = join(box, "bundle.nut");
  writeFileSync(bundle, bytesOf(one));
  writeFileSync(join(box, "x"), "untouched");
  const before = readdirSync(root);
  try {
    await unpackBundle(bundle, join(inside, "out"));
    expect(readdirSync(inside)).toEqual(["out"]);
    return { files: files(join(inside, "out")).filter((path) => path !== "nutshell.json") };
  } catch (error) {
    // Nothing but a refusal, and nothing left behind.
    if (!(error instanceof NutError)) throw error;
    expect(readdirSync(inside)).toEqual([]);
    return { code: error.code };
  } finally {
    expect(readdirSync(box).sort()).toEqual(["bundle.nut", "inside", "x"]);
    expect(readdirSync(root)).toEqual(before);
  }
}

describe.each(Object.entries(CASES))("a bundle with hostile %s", (_group, cases) => {
  it.each(cases.map((one) => [typeof one.expect === "string" ? "refuses" : "accepts", one.name, one] as const))(
    "%s %s",
    async (_verb, _name, one) => {
      const expected = typeof one.expect === "string" ? { code: one.expect } : { files: [...one.expect].sort() };
      expect(await outcome(one)).toEqual(expected);
    },
  );
});

it("has at least 120 cases", () => {
  expect(Object.values(CASES).flat().length).toBeGreaterThanOrEqual(120);
});

it("never throws anything but a refusal when it only looks", async () => {
  const path = join(root, "looked.nut");
  for (const one of Object.values(CASES).flat()) {
    writeFileSync(path, bytesOf(one));
    try {
      const bundle = await openBundle(path, { lenient: true, newer: true });
      await bundle.verify();
    } catch (error) {
      expect(error, one.name).toBeInstanceOf(NutError);
    }
  }
});
