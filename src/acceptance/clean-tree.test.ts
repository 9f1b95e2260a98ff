import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { put } from "../../tests/acceptance/room.js";
import type { Manifest } from "../schema/manifest.js";
import { isResult, treeDigest } from "../trees/result-tree.js";
import { cleanTreeOf, underTest } from "./clean-tree.js";
import { planChecks } from "./plan/checks.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-clean-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const manifest = { acceptance: { test_scripts: ["tests/own.sh"] } } as Manifest;
const REQUEST = { "nutshell.json": "{}", "tests/own.sh": "exit 1\n", "tests/helper.sh": "a\n", "files/a.txt": "a\n" };
type Files = Readonly<Record<string, string>>;
let built = 0;

function build({ request = REQUEST, base, work }: { request?: Files; base?: Files; work: Files }) {
  const at = (name: string) => join(folder, `${name}-${built}`);
  built += 1;
  const [asked, result] = [at("request"), at("result")];
  put(asked, request);
  if (base !== undefined) put(at("base"), base);
  put(result, { ...(base ?? request), ...work });
  const plan = planChecks(asked, manifest);
  const tree = cleanTreeOf({ base: base === undefined ? asked : at("base"), request: asked, plan, result });
  return { ...tree, kept: underTest(tree.changes, plan) };
}

/** What a copy of such a tree is called. */
function digestOf(files: Files): string {
  const copy = join(folder, `copy-${built}`);
  built += 1;
  put(copy, files);
  return treeDigest(copy, isResult);
}

const honest = { "files/a.txt": "b\n" };

it("holds the work, and the request's tests as they were", () => {
  const { kept, changes, digests } = build({ work: { ...honest, "tests/own.sh": "exit 0\n", "tests/new": "" } });
  expect(changes.map(({ path }) => path)).toEqual(["files/a.txt", "tests/new", "tests/own.sh"]);
  expect(kept.map(({ path }) => path)).toEqual(["files/a.txt"]);
  const { "nutshell.json": _computed, ...tests } = REQUEST;
  expect(digests.result).toBe(digestOf({ ...tests, ...honest }));
  expect(digests).toEqual(build({ work: honest }).digests);
});

it("has the request's tests in a repository, over its own of that name", () => {
  const base = { "src/a": "1", "tests/own.sh": "exit 0\n" };
  const { digests } = build({ base, work: { "src/a": "2" } });
  expect(digests.result).toBe(digestOf({ "src/a": "2", "tests/own.sh": "exit 1\n", "tests/helper.sh": "a\n" }));
});

it("is named by what the work changed, and by no field that packing computes", () => {
  const plain = build({ work: honest }).digests;
  expect(build({ work: { "files/a.txt": "c\n" } }).digests.result).not.toBe(plain.result);
  expect(build({ request: { ...REQUEST, "nutshell.json": '{"files":{}}' }, work: honest }).digests).toEqual(plain);
});

it("names every file of the tests, not those alone that a criterion names", () => {
  const plain = build({ work: honest }).digests;
  const other = build({ request: { ...REQUEST, "tests/helper.sh": "b\n" }, work: honest }).digests;
  expect(other.tests).not.toBe(plain.tests);
});
