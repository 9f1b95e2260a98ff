import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseUses, readUses, recordUses, USES_PATH } from "./uses.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-uses-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const use = (name: string) => ({ name, at: "2026-03-14T10:00:00Z", purpose: "a test" });

it("keeps one line for each hand-out: name, time and purpose, and nothing else", () => {
  recordUses(folder, [{ ...use("db"), value: "hunter22" } as ReturnType<typeof use>, use("api")]);
  recordUses(folder, []);
  recordUses(folder, [use("db")]);
  expect(readUses(folder)).toEqual([use("db"), use("api"), use("db")]);
  expect(readFileSync(join(folder, USES_PATH), "utf8")).not.toContain("hunter22");
});

it("closes a line that a killed process left open", () => {
  recordUses(folder, [use("db")]);
  appendFileSync(join(folder, USES_PATH), '{"name":"to');
  recordUses(folder, [use("api")]);
  expect(readUses(folder)).toEqual([use("db"), use("api")]);
});

it("has nothing to tell of a folder without a record, and leaves out what is none", () => {
  expect(readUses(folder)).toEqual([]);
  expect(parseUses('null\n{"name":1}\n{"name":"a","at":"t"}\n')).toEqual([{ name: "a", at: "t", purpose: "" }]);
});
