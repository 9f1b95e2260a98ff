// Where no sandbox works, nothing of a stranger runs unless the person says so in as many words.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { packFolder } from "../../src/bundle/index.js";
import { findProgram } from "../../src/process/index.js";
import { call } from "../run/program.js";
import { Desk } from "../vault/run.js";

const bwrap = findProgram("bwrap", process.env);
let desk: Desk;
let env: Record<string, string>;
beforeEach(() => {
  desk = new Desk();
  // Everything a check needs, and no bubblewrap.
  mkdirSync(desk.path("bin"));
  for (const name of ["sh", "node", "cat", "true", "touch", "git"]) {
    const program = findProgram(name, process.env);
    if (program !== null) symlinkSync(program, desk.path(`bin/${name}`));
  }
  env = { PATH: desk.path("bin") };
});
afterEach(() => desk.remove());

function request(name: string): string {
  const folder = desk.folder(desk.path(name), { acceptance: { criteria_file: "tests/criteria.json" } });
  mkdirSync(join(folder, "tests"), { recursive: true });
  const criteria = [{ id: "AC-1", type: "shell", command: `touch ${desk.path("ran")}` }];
  writeFileSync(join(folder, "tests/criteria.json"), JSON.stringify({ criteria }));
  return folder;
}

async function stranger(): Promise<string> {
  return (await packFolder(request("stranger"), { output: desk.path("stranger.nut") })).path;
}

const codeOf = (err: string) => JSON.parse(err.slice(err.indexOf('{"error"'))).error;

describe("without a working sandbox", () => {
  it("a stranger's checks do not run, though somebody said yes to them", async () => {
    const bundle = await stranger();
    const { code, err } = await desk.run(["accept", bundle, "--yes", "--json"], { env });
    expect(code).toBe(2);
    expect(codeOf(err)).toMatchObject({ code: "SANDBOX_MISSING", hint: expect.stringContaining("--no-sandbox") });
    expect(existsSync(desk.path("ran"))).toBe(false);
  });

  it("nor are they measured", async () => {
    const { code, err } = await desk.run(["check", await stranger(), "--strength", "--yes", "--json"], { env });
    expect(code).toBe(2);
    expect(codeOf(err)).toMatchObject({ code: "SANDBOX_MISSING" });
    expect(existsSync(desk.path("ran"))).toBe(false);
  });

  it.skipIf(bwrap === null)(
    "nor where the sandbox gives no network of its own; one's own do, and the report says so",
    async () => {
      // As in a container that may not set up a loopback.
      const refuse = 'case " $* " in *" --unshare-net "*) exit 1;; esac';
      writeFileSync(desk.path("bin/bwrap"), `#!/bin/sh\n${refuse}\nexec ${bwrap} "$@"\n`, { mode: 0o755 });
      const { err } = await desk.run(["accept", await stranger(), "--yes", "--json"], { env });
      expect(codeOf(err)).toMatchObject({ code: "SANDBOX_MISSING", message: expect.stringContaining("your network") });
      const { out } = await desk.run(["accept", request("own"), "--quick", "--json"], { env });
      const warning = "the checks could reach this machine's network: the sandbox gives none of its own here";
      expect(JSON.parse(out)).toMatchObject({ sandboxed: true, warnings: [warning] });
    },
  );

  it.skipIf(bwrap === null)(
    "nor where it gives no account of its own, as for root without user namespaces; one's own run, and are not called held",
    async () => {
      const refuse = 'case " $* " in *" --unshare-user "*) exit 1;; esac';
      writeFileSync(desk.path("bin/bwrap"), `#!/bin/sh\n${refuse}\nexec ${bwrap} "$@"\n`, { mode: 0o755 });
      const { err } = await desk.run(["accept", await stranger(), "--yes", "--json"], { env });
      expect(codeOf(err)).toMatchObject({ code: "SANDBOX_MISSING", message: expect.stringContaining("no sandbox") });
      expect(existsSync(desk.path("ran"))).toBe(false);
      const { out } = await desk.run(["accept", request("own"), "--quick", "--json"], { env });
      expect(JSON.parse(out)).toMatchObject({ sandboxed: false, verdict: "passed" });
    },
  );

  it("with --no-sandbox they do, and the report says how", async () => {
    const bundle = await stranger();
    const flags = ["--yes", "--no-sandbox", "--quick", "--json"];
    const { out } = await desk.run(["accept", bundle, ...flags], { env });
    expect(existsSync(desk.path("ran"))).toBe(true);
    expect(JSON.parse(out)).toMatchObject({
      sandboxed: false,
      warnings: expect.arrayContaining(["the checks ran without a sandbox"]),
    });
  });

  it("one's own run as before, and the report says how", async () => {
    const { out } = await desk.run(["accept", request("own"), "--quick", "--json"], { env });
    expect(existsSync(desk.path("ran"))).toBe(true);
    expect(JSON.parse(out)).toMatchObject({ sandboxed: false });
  });

  it("no agent is started for a stranger's request", async () => {
    const bundle = await stranger();
    const line = ["--driver", "command", "--command", `touch ${desk.path("ran")}; echo done`, "--json"];
    const ran = call("nexus", desk.path("bin"), ["run", bundle, "--force", ...line], env);
    expect(ran.status).toBe(2);
    expect(codeOf(ran.stderr)).toMatchObject({ code: "SANDBOX_MISSING" });
    expect(existsSync(desk.path("ran"))).toBe(false);
  });
});
