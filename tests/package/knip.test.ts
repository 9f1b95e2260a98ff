import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./installed.js";

it("has no dead export, no file nobody reaches, and no dependency nobody uses", () => {
  const { status, stdout } = spawnSync(process.execPath, [join(root, "node_modules/knip/bin/knip.js")], {
    cwd: root,
    encoding: "utf8",
  });
  expect(stdout).toBe("");
  expect(status).toBe(0);
});
