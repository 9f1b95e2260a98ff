import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { assess, openContent } from "../../src/bundle/index.js";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));
const solutions = fileURLToPath(new URL("solutions/", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "nut-examples-"));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const names = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Runs every criterion as the harness would: from the bundle's root, the exit status decides. */
function run(folder: string): Record<string, boolean> {
  const { criteria } = JSON.parse(readFileSync(join(folder, "tests/criteria.json"), "utf8")) as {
    criteria: { id: string; script: string }[];
  };
  return Object.fromEntries(
    criteria.map(({ id, script }) => [
      id,
      spawnSync(join(folder, script), { cwd: folder, timeout: 30_000 }).status === 0,
    ]),
  );
}

describe("examples", () => {
  it("are three", () => expect(names).toEqual(["1-bug-fix", "2-feature", "3-parallel"]));

  for (const name of names) {
    it(`${name} is ready without a warning`, async () => {
      const content = await openContent(join(examples, name));
      expect(await assess(content, { now: new Date("2026-03-14T10:00:00Z") })).toMatchObject({
        status: "ready",
        findings: [],
      });
    });

    it(`${name} fails its criteria as it stands, and passes them once solved`, () => {
      const folder = join(work, name);
      cpSync(join(examples, name), folder, { recursive: true });
      expect(Object.values(run(folder))).toContain(false);
      cpSync(join(solutions, name), folder, { recursive: true });
      expect(Object.values(run(folder))).not.toContain(false);
    });
  }
});
