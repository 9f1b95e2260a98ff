// A verdict does not depend on where somebody stands: no check sees the project around the run.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openAirFolder } from "../../src/acceptance/room/open-air.js";
import { bwrapAvailable } from "../../src/process/index.js";
import { helloRequest, put, scratch, sweep, world } from "../run/scripted.js";

const held = await bwrapAvailable(process.env);
afterEach(sweep);

/** Passes with the work done, and only where nothing of a project is in sight. */
const LOOK = `
grep -q 'hello world' files/hello.txt || exit 1
git rev-parse --show-toplevel 2>/dev/null && { echo a repository; exit 1; }
node -e 'require("around")' 2>/dev/null && { echo a module; exit 1; }
command -v around-tool && { echo a program; exit 1; }
at=$PWD
while [ "$at" != / ]; do
  at=$(dirname "$at")
  for name in .git .nexus node_modules pyproject.toml package.json; do
    [ -e "$at/$name" ] && { echo "$at/$name"; exit 1; }
  done
done
exit 0
`;

function repository(): string {
  const root = scratch();
  put(root, {
    "package.json": "{}",
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "node_modules/around/index.js": "module.exports = 1;\n",
    "node_modules/.bin/around-tool": "#!/bin/sh\n",
  });
  chmodSync(join(root, "node_modules/.bin/around-tool"), 0o755);
  execFileSync("git", ["-C", root, "init", "-q"]);
  return root;
}

/** What a run comes to that is started there. */
async function runIn(root: string, env: Record<string, string>, noSandbox: boolean) {
  helloRequest(root, {}, { "tests/hello.sh": LOOK });
  mkdirSync(join(root, "tmp"), { recursive: true });
  const w = await world({
    root,
    env: { ...process.env, TMPDIR: join(root, "tmp"), ...env },
    agent: ({ role, cwd }) => {
      if (role === "engineer") put(cwd, { "files/hello.txt": "hello world\n" });
      return "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
    },
    options: { trials: 1, ...(noSandbox ? { no_sandbox: true } : {}) },
  });
  const before = process.cwd();
  process.chdir(root);
  const { delivery } = await w.go().finally(() => process.chdir(before));
  return delivery?.result.acceptance_results?.criteria?.map(({ id, status, evidence, reason }) => ({
    id,
    status,
    evidence,
    reason,
  }));
}

describe("the same request and agent", () => {
  it.each<[string, boolean]>([...(held ? [["in a sandbox", false] as [string, boolean]] : []), ["without one", true]])(
    "come to the same from inside a repository and from an empty folder, %s",
    async (_, noSandbox) => {
      const inside = repository();
      const bin = `${join(inside, "node_modules/.bin")}:${process.env.PATH}`;
      const verdicts = [await runIn(inside, { PATH: bin }, noSandbox), await runIn(scratch(), {}, noSandbox)];
      expect(verdicts[0]).toEqual(verdicts[1]);
      expect(verdicts[0]).toEqual([{ id: "AC-1", status: "passed", evidence: "proven", reason: undefined }]);
    },
  );

  it("lie in a folder outside any project, whatever TMPDIR says", () => {
    const inside = join(repository(), "deep/tmp");
    mkdirSync(inside, { recursive: true });
    const folder = openAirFolder({ TMPDIR: inside });
    expect(folder.startsWith(inside)).toBe(false);
    execFileSync("rmdir", [folder]);
  });
});
