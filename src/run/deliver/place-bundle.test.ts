import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { placeBundle } from "./place-bundle.js";

let root: string;
const at = (name: string) => join(root, name);
const place = (text: string, isOurs = async (_: string) => false) => {
  writeFileSync(at("temporary"), text);
  return placeBundle(at("temporary"), at("out.nut"), isOurs);
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-place-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it("never writes over a file that is somebody else's", async () => {
  expect(await place("first")).toBe(at("out.nut"));
  expect(await place("second")).toBe(at("out-2.nut"));
  expect(await place("third")).toBe(at("out-3.nut"));
  expect(readdirSync(root).sort()).toEqual(["out-2.nut", "out-3.nut", "out.nut"]);
  expect(readFileSync(at("out.nut"), "utf8")).toBe("first");
});

it("replaces what the same delivery left there", async () => {
  await place("first");
  await place("second");
  expect(await place("third", async (path) => path === at("out-2.nut"))).toBe(at("out-2.nut"));
  expect(["out.nut", "out-2.nut"].map((name) => readFileSync(at(name), "utf8"))).toEqual(["first", "third"]);
});
