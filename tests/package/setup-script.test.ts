// What happens before `npm test`, on a machine that has nothing: its PATH holds a folder of ours alone.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { root } from "./installed.js";

let bin: string;
const called = () => join(bin, "called");
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), "nutcracker-setup-"));
  // Writes down what is asked of it, and when: after the words that announce it, or before.
  program("apt-get", `echo "$@" >> '${called()}'; echo "apt-get $1" >&2`);
});
afterEach(() => rmSync(bin, { recursive: true, force: true }));

function program(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

function setup({ user, env = {} }: { user: number; env?: Record<string, string> }): string {
  const asUser = `data:text/javascript,process.getuid=()=>${user}`;
  const { status, stdout, stderr } = spawnSync(
    "/bin/sh",
    ["-c", 'exec "$@" 2>&1', "sh", process.execPath, "--import", asUser, join(root, "scripts/setup.mjs")],
    { encoding: "utf8", env: { PATH: bin, ...env } },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

describe("before npm test", () => {
  it("says what root is about to install, before it does", () => {
    program("git", "exit 0");
    const said = setup({ user: 0 });
    expect(said).toMatch(
      /^setup: will now install with apt-get, as root: age, bats, bubblewrap, (?!.*\bgit\b).*zstd\n.*NUTCRACKER_NO_APT=1.*\napt-get update\napt-get install\n/,
    );
    expect(readFileSync(called(), "utf8")).toMatch(
      /^update -qq\ninstall -y -qq --no-install-recommends age bats bubblewrap .*zstd\n$/,
    );
    // It brought nothing, and that is said too.
    expect(said).toContain("setup: no age (Debian package age); skipped without it: interop with the age program");
  });

  it.each([
    ["root was told not to", { user: 0, env: { NUTCRACKER_NO_APT: "1" } }],
    ["it is somebody else", { user: 1000 }],
  ])("installs nothing when %s, and names what is skipped", (_, who) => {
    const said = setup(who);
    expect(existsSync(called())).toBe(false);
    expect(said).not.toContain("will now install");
    expect(said).toContain("setup: no chromium (Debian package chromium); skipped without it: viewer and board tests");
  });

  it("brings no toolchain for a few rows, and names it", () => {
    const said = setup({ user: 0 });
    expect(readFileSync(called(), "utf8")).not.toMatch(/golang-go|cmake|jdk/);
    expect(said).toContain("setup: no go (Debian package golang-go); skipped without it: liars and honest work in Go");
  });

  it("says nothing when everything is there", () => {
    const script = readFileSync(join(root, "scripts/setup.mjs"), "utf8");
    for (const [, name] of script.matchAll(/^ {2}"?([a-z0-9-]+)"?: \[/gm)) program(name!, "exit 0");
    expect(setup({ user: 0 })).toBe("");
  });
});
