import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clientProgram } from "../../tests/hosts/clients.js";
import { KNOWN_VERSIONS } from "../process/index.js";
import { pastLauncher } from "./codex-launcher.js";

const { tried } = KNOWN_VERSIONS.codex;
const SYSTEM = "linux-x64";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-launcher-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string, mode = 0o644): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

/** As npm lays it out; the program's own package beside the launcher's or inside of it. */
function install({ version = tried as string, own = `${tried}-${SYSTEM}`, inside = false, mode = 0o755 } = {}) {
  const packages = "lib/node_modules/@openai";
  const place = `${packages}/${inside ? "codex/node_modules/@openai/" : ""}codex-${SYSTEM}`;
  put(`${packages}/codex/package.json`, JSON.stringify({ name: "@openai/codex", version }));
  put(`${packages}/codex/bin/codex.js`, "#!/usr/bin/env node\n", 0o755);
  put(`${place}/package.json`, JSON.stringify({ name: "@openai/codex", version: own }));
  const command = put(`${place}/vendor/x86_64-unknown-linux-musl/bin/codex`, "#!/bin/sh\n", mode);
  mkdirSync(join(folder, "bin"));
  symlinkSync("../lib/node_modules/@openai/codex/bin/codex.js", join(folder, "bin/codex"));
  return { launcher: join(folder, "bin/codex"), command, root: join(folder, packages, "codex") };
}

describe("npm's codex", () => {
  it.each([false, true])("is started without its launcher, wherever its package lies (inside: %s)", (inside) => {
    const { launcher, command, root } = install({ inside });
    const env = { CODEX_MANAGED_PACKAGE_ROOT: root, CODEX_MANAGED_BY_NPM: "1" };
    expect(pastLauncher(launcher, SYSTEM)).toEqual({ command, env });
  });

  it.each([
    ["in another version than the one that was tried", { version: "0.999.0", own: `0.999.0-${SYSTEM}` }],
    ["beside the program of another version", { own: `0.999.0-${SYSTEM}` }],
    ["whose program may not be run", { mode: 0o644 }],
  ])("is started as it is %s", (_, how) => {
    const { launcher } = install(how);
    expect(pastLauncher(launcher, SYSTEM)).toEqual({ command: launcher, env: {} });
  });

  it("is started as it is on a system where nobody tried it", () => {
    const { launcher } = install();
    expect(pastLauncher(launcher, "darwin-arm64")).toEqual({ command: launcher, env: {} });
  });

  it("is started as it is when its package is missing", () => {
    const { launcher } = install();
    rmSync(join(folder, `lib/node_modules/@openai/codex-${SYSTEM}`), { recursive: true });
    expect(pastLauncher(launcher, SYSTEM)).toEqual({ command: launcher, env: {} });
  });

  it("may be any other program", () => {
    const program = put("bin/codex", "#!/bin/sh\n", 0o755);
    expect(pastLauncher(program, SYSTEM)).toEqual({ command: program, env: {} });
    expect(pastLauncher(join(folder, "gone"), SYSTEM)).toEqual({ command: join(folder, "gone"), env: {} });
  });

  it.skipIf(clientProgram("codex") === null || process.platform !== "linux")(
    "of the version that was tried lies as we know it",
    () => {
      const program = clientProgram("codex")!;
      expect(pastLauncher(program).command).toMatch(/\/vendor\/[^/]+\/bin\/codex$/);
    },
  );
});
