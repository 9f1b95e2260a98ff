// `nexus run --oracle`: an example solution in an agent's place.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withOracle } from "../../src/commands/nexus/run/oracle.js";
import { temporary } from "../temporary.js";
import { imported } from "./import-task.js";
import { writeTask } from "./own-tasks.js";

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

  it("takes the place of a driver, a line, a model and a plan, and is combined with none", () => {
    const cwd = writeTask(temporary("oracle-"), { "it's/solve.sh": "#!/bin/sh\n" });
    expect(withOracle({ oracle: "it's" }, cwd)).toMatchObject({
      driver: "command",
      command: `sh '${cwd}/it'\\''s/solve.sh' && echo 'the example solution is in place'`,
      plan: "work",
    });
    for (const name of ["driver", "command", "model", "plan"])
      expect(() => withOracle({ oracle: "it's", [name]: "x" }, cwd)).toThrow(
        expect.objectContaining({ code: "USAGE" }),
      );
    mkdirSync(join(cwd, "empty"));
    expect(() => withOracle({ oracle: "empty" }, cwd)).toThrow(expect.objectContaining({ code: "FILE_NOT_FOUND" }));
    expect(withOracle({ driver: "codex" }, cwd)).toEqual({ driver: "codex" });
  });
});
