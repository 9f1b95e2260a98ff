import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepareSystem, stampOf, unneededMounts } from "./prepared-system.js";
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

describe("mounts in /sys", () => {
  it("go where no sandbox shows them, and stay where they cover a part of what is shown", () => {
    const paths = "/sys/fs/cgroup /sys/fs/cgroup/cpu /sys/firmware /sys/devices/system/cpu/online /sys/devices".split(
      " ",
    );
    const mounted = paths.map((path, index) => `${index + 30} 20 0:5 / ${path} ro - tmpfs tmpfs ro`).join("\n");
    expect(unneededMounts(mounted, ["/etc/hosts", "/sys/devices/system/cpu"])).toEqual([
      "/sys/fs/cgroup",
      "/sys/firmware",
    ]);
  });

  it.skipIf(prepared === null)("still cover it in a sandbox (needs root and bwrap)", () => {
    const at = "/sys/devices/system/cpu/vulnerabilities";
    const script = join(folder, "covered.mts");
    const here = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
    writeFileSync(
      script,
      `import { runChild } from ${here("./run-child.js")};
const env = ${JSON.stringify(env)};
const sandbox = { root: "system", network: "host", env };
const { stdout } = await runChild({ command: "/bin/ls", args: [${JSON.stringify(at)}], cwd: "/", env, sandbox });
process.stdout.write(stdout.text + "end");`,
    );
    const command = `mount -t tmpfs -o ro tmpfs ${at} && exec "$0" --import "$1" "$2"`;
    const tsx = import.meta.resolve("tsx");
    const words = ["-m", "--propagation", "private", "sh", "-c", command, process.execPath, tsx, script];
    const { stdout, stderr } = spawnSync("unshare", words, { encoding: "utf8" });
    expect(stdout, stderr).toBe("end");
  });
});

function isNamespace(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith("mnt:");
  } catch {
    return false;
  }
}
