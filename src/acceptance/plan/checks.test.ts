import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Manifest } from "../../schema/manifest.js";
import { planChecks } from "./checks.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-plan-"));
  mkdirSync(join(folder, "request/tests"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each(["../criteria.json", "tests/../../criteria.json"])("criteria at %s are not the request's", (path) => {
  const criteria = JSON.stringify({ criteria: [{ id: "a", type: "shell", command: "true" }] });
  writeFileSync(join(folder, "criteria.json"), criteria);
  writeFileSync(join(folder, "request/criteria.json"), criteria);
  const plan = (file: string) =>
    planChecks(join(folder, "request"), { acceptance: { criteria_file: file } } as unknown as Manifest);
  expect(plan("criteria.json").checks.map(({ id }) => id)).toEqual(["a"]);
  expect(() => plan(path)).toThrow(/it is not in the request/);
});
