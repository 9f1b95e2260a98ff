import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { dieEverywhere } from "../run/dying.js";
import { environment, root } from "../run/program.js";
import { helloRequest, scratch, sweep } from "../run/scripted.js";

afterEach(sweep);

describe("a run", () => {
  it("dies before and after every record of its journal, and always ends in the same tree", async () => {
    await dieEverywhere(scratch(), () => ["before", "after"]);
  }, 600_000);

  it("is delivered although its own program was taken away while an agent worked", async () => {
    const [home, installed] = [scratch(), join(scratch(), "installed")];
    mkdirSync(installed);
    for (const name of ["bin", "core", "dist", "schemas", "package.json"]) {
      cpSync(join(root, name), join(installed, name), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(installed, "node_modules"));
    const script = "sleep 6; echo hello world > files/hello.txt; echo RESULT: done; echo VERDICT: pass";
    const args = ["run", helloRequest(home), "--driver", "command", "--command", `sh -c '${script}'`, "-o", "out.nut"];
    const child = spawn(process.execPath, [join(installed, "bin/nexus.js"), ...args], {
      cwd: home,
      env: environment(home),
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += chunk;
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    for (let i = 0; i < 100 && !said.includes("works on task 1"); i += 1) await sleep(50);
    await sleep(4_000);
    renameSync(join(installed, "dist"), join(installed, "gone"));
    await ended;
    expect(existsSync(join(home, "out.nut")), said).toBe(true);
  }, 120_000);
});
