// `nexus run --oracle`: an example solution in an agent's place.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { oracleCommand } from "../../src/drivers/index.js";
import { usePlainPytest } from "../acceptance/plain-pytest.js";
import { temporary } from "../temporary.js";
import { imported } from "./import-task.js";
import { writeTask } from "./own-tasks.js";

usePlainPytest();

const bin = join(import.meta.dirname, "../../bin/nexus.js");
const runs =
  existsSync(join(import.meta.dirname, "../../dist/nexus.cjs")) &&
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

  it("runs its script in the tree, or lays its files over it, for whoever may edit", () => {
    const cwd = writeTask(temporary("oracle-"), {
      "it's a/solve.sh": "echo solved > b.txt\n",
      "bash/solve.sh":
        '#!/bin/bash\nset -o pipefail\n[[ 1 == 1 ]] && echo "$BASH_VERSION" | sed "s/.*/by bash/" > b.txt\n',
      "files/b.txt": "laid\n",
      "files/.hidden": "",
    });
    chmodSync(join(cwd, "bash/solve.sh"), 0o755);
    const treeAfter = (folder: string, mayEdit: string) => {
      const tree = writeTask(temporary("oracle-tree-"), { "b.txt": "untouched\n" });
      const { status } = spawnSync("sh", ["-c", oracleCommand(join(cwd, folder))], {
        cwd: tree,
        env: { PATH: process.env.PATH, NEXUS_MAY_EDIT: mayEdit },
      });
      return [status, readFileSync(join(tree, "b.txt"), "utf8").trim(), readdirSync(tree).sort().join(" ")];
    };
    expect(treeAfter("it's a", "1")).toEqual([0, "solved", "b.txt"]);
    expect(treeAfter("bash", "1")).toEqual([0, "by bash", "b.txt"]);
    expect(treeAfter("files", "1")).toEqual([0, "laid", ".hidden b.txt"]);
    expect(treeAfter("it's a", "0")).toEqual([0, "untouched", "b.txt"]);
  });
});
