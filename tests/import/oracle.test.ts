// `nexus run --oracle`: an example solution in an agent's place.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { imported } from "./import-task.js";

const bin = join(import.meta.dirname, "../../bin/nexus.js");
const runs =
  existsSync(join(import.meta.dirname, "../../dist/nexus.js")) &&
  spawnSync("bwrap", ["--version"]).status === 0 &&
  spawnSync("python3", ["-m", "pytest", "--version"]).status === 0;

describe("nexus run --oracle", () => {
  it.runIf(runs)(
    "completes a request with its own example, and delivers what that changed",
    async () => {
      const { cwd, env } = await imported("python-total");
      const words = ["run", "task", "--oracle", "oracle", "--yes", "--trials", "1", "-o", "done.nut"];
      const run = spawnSync(process.execPath, [bin, ...words], {
        cwd,
        env: { ...process.env, ...env },
        encoding: "utf8",
      });
      expect(run.stdout, run.stderr).toContain("0 files created, 1 modified, 0 deleted; 1 session");
      expect(run.stdout).toMatch(/^completed \(100 %\)/m);
      expect(run.status).toBe(0);
    },
    240_000,
  );

  it("takes the place of a driver, a line and a model, and is combined with none", async () => {
    const { cwd, env } = await imported("python-total");
    for (const words of [
      ["--driver", "codex"],
      ["--command", "true"],
      ["--model", "opus"],
    ]) {
      const args = [bin, "run", "task", "--oracle", "oracle", ...words];
      const run = spawnSync(process.execPath, args, { cwd, env: { ...process.env, ...env }, encoding: "utf8" });
      expect(run.stderr).toContain(`--oracle hands in a known solution, so ${words[1]} has nothing to do`);
      expect(run.status).toBe(2);
    }
  });
});
