// The undecidable rows again, with checks the worker never saw sealed into the request for whoever verifies.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type House, judgeStaged, type Ran, type Verdict } from "./referee.js";
import { putFiles } from "./stage.js";
import type { Files, World } from "./table.js";

export function hasHide({ folder }: House): boolean {
  const { status } = spawnSync(process.execPath, [join(folder, "bin/nutshell.js"), "hide", "--help"], {
    stdio: "ignore",
  });
  return status === 0;
}

const CRITERIA = "hidden-criteria.json";

export async function judgeHidden(house: House, world: World, work: Files): Promise<Verdict> {
  return judgeStaged(house, world, work, async (request, ask) => {
    const identity = `${request}.identity`;
    const made = await ask(["keygen", "-o", identity, "--json"]);
    const recipient = /age1[0-9a-z]+/.exec(made.stdout + made.stderr)?.[0] ?? "";
    const hidden = world.hidden ?? {};
    putFiles(request, hidden);
    writeFileSync(join(request, CRITERIA), JSON.stringify({ criteria_version: "0.2.0", criteria: criteriaOf(hidden) }));
    const sealed: Ran = await ask(["hide", request, "--criteria", join(request, CRITERIA), "-r", recipient]);
    if (sealed.status !== 0) throw new Error(`nutshell hide: ${sealed.stderr}`);
    for (const path of [...Object.keys(hidden), CRITERIA]) rmSync(join(request, path), { force: true });
    return ["--identity", identity];
  });
}

const criteriaOf = (hidden: Files) =>
  Object.keys(hidden).map((path, n) => ({
    id: `HIDDEN-${n + 1}`,
    description: "cases nobody saw",
    timeout_seconds: 120,
    ...(path.endsWith(".py") && path.includes("test_")
      ? { type: "pytest", script: path }
      : { type: "shell", command: `${runnerOf(path)} ${path}` }),
  }));

const runnerOf = (path: string) => (path.endsWith(".mjs") ? "node" : path.endsWith(".py") ? "python3" : "sh");
