import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepareSystem, stampOf } from "./prepared-system.js";
import { runChild } from "./run-child.js";
import { findBwrap, type Sandbox, sandboxCommand } from "./sandbox.js";

const env = { PATH: "/usr/bin:/bin", HOME: "/nonexistent" };
const bwrap = await findBwrap(env);
const prepared = bwrap === null ? null : await prepareSystem(bwrap, true);
const plain: Sandbox = { root: "system", network: "host", env };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-prepared-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function inside(script: string, sandbox: Sandbox = plain): Promise<string> {
  const { stdout } = await runChild({ command: "/bin/sh", args: ["-c", script], cwd: "/", env, sandbox });
  return stdout.text;
}

/** The same sandbox with every mount made by itself. */
function byItself(script: string): string {
  const { program, args } = sandboxCommand(bwrap!, plain, "/", env);
  // Two descriptors that only startChild brings.
  const isOurs = (word: string | undefined) => word === "--seccomp" || word === "--info-fd";
  const words = args.filter((word, index) => !isOurs(word) && !isOurs(args[index - 1]));
  return spawnSync(program, [...words, "/bin/sh", "-c", script], { encoding: "utf8", env }).stdout;
}

describe.skipIf(prepared === null)("a prepared system (needs root and bwrap)", () => {
  it("shows what mounts of its own would, and no more", async () => {
    const list =
      "find /etc /sys | sort; find -L /etc -type f -exec stat -L -c '%n %a %u %g %s %Y' {} + | sort; find -L /etc -type f -exec sha256sum {} + | sort";
    const shown = await inside(list);
    expect(shown).toContain("/etc/resolv.conf\n");
    expect(shown).toMatch(/^[0-9a-f]{64} {2}\/etc\/services$/m);
    expect(shown).toBe(byItself(list));
  });

  it("leaves out the network's files where there is no network", async () => {
    expect(await inside("ls /etc", { ...plain, network: "none" })).not.toMatch(/resolv\.conf|hostname/);
  });

  it("can be changed by nobody, and no way leads out of it", async () => {
    const tried =
      "touch /etc/new; rm /etc/passwd; echo x > /etc/hosts; ls /etc/new /sys/kernel; ls /proc/self/fd | tr '\\n' ' '";
    // The last one is the listing's own.
    expect((await inside(tried)).trim()).toMatch(/^0 1 2(?: \d+)?(?: \d+)?$/);
    const namespaces = readdirSync("/proc/self/fd").filter((fd) => isNamespace(fd));
    expect(namespaces.length).toBeGreaterThan(0);
  });

  it("makes room for a file that somebody needs below /etc", async () => {
    const own = join(folder, "ca.pem");
    writeFileSync(own, "trusted\n");
    const mounts = [{ access: "read-only", path: "/etc/own/ca.pem", from: own }] as const;
    expect(await inside("cat /etc/own/ca.pem; ls /etc/shadow", { ...plain, mounts })).toBe("trusted\n");
  });

  it("is made once, and anew for a file that took another's place", async () => {
    expect(prepareSystem(bwrap!, true)).toBe(prepareSystem(bwrap!, true));
    const [file, beside] = [join(folder, "hosts"), join(folder, "hosts.new")];
    const stamp = () => stampOf({ access: "read-only", path: "/etc/hosts", from: file });
    writeFileSync(file, "a");
    const before = stamp();
    expect(stamp()).toBe(before);
    writeFileSync(beside, "b");
    renameSync(beside, file);
    expect(stamp()).not.toBe(before);
  });
});

function isNamespace(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith("mnt:");
  } catch {
    return false;
  }
}
