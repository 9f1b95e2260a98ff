// A request that asks for more than a timer can hold: such a timer would go off at once, and every check would fail or none be held.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { planChecks } from "../../src/acceptance/plan/checks.js";

it.each([2_147_484, 4_294_968, 1e12])("refuses a check that may take %d seconds", (timeout_seconds) => {
  const folder = mkdtempSync(join(tmpdir(), "nut-limits-"));
  try {
    mkdirSync(join(folder, "tests"));
    const criteria = [{ id: "long", type: "shell", command: "true", timeout_seconds }];
    writeFileSync(join(folder, "tests/criteria.json"), JSON.stringify({ criteria }));
    const plan = () => planChecks(folder, { nutshell_version: "0.2.0", bundle_type: "request", id: "nut-x" } as never);
    expect(plan).toThrow("which is longer than 2147483 s");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
