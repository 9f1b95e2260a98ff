// What the kernel itself offers to whoever is held: doors that no file system and no network name space close.
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable, findProgram, runChild, type Sandbox } from "../../src/process/index.js";
import { root } from "../run/program.js";

const env = { PATH: process.env.PATH };
const held = await bwrapAvailable(env);
const perl = findProgram("perl", env);
const known = process.arch === "x64";

/** Each line says `name=yes` when it succeeded. Numbers of calls are those of x86-64. */
const ATTEMPTS = String.raw`
use strict; use Socket;
$| = 1;
sub tell_ { my ($name, $won) = @_; print "$name=", ($won ? "yes" : "no"), "\n"; }
sub writes { my ($path, $flags) = @_; open(my $h, ">", $path) or return 0; close $h; unlink $path if $flags; return 1; }
tell_("vsock", socket(my $v, 40, 1, 0));
tell_("alg", socket(my $a, 38, 5, 0));
tell_("unix", socket(my $u, AF_UNIX, SOCK_STREAM, 0));
tell_("inet", socket(my $i, AF_INET, SOCK_STREAM, 0));
tell_("inet6", socket(my $j, 10, SOCK_STREAM, 0));
tell_("netlink", socket(my $n, 16, SOCK_RAW, 0));
tell_("io_uring", syscall(425, 1, my $p = "\0" x 200) >= 0);
tell_("add_key", syscall(248, my $t = "user", my $d = "nut-walls", my $x = "x", 1, -4) >= 0);
tell_("keyring", syscall(250, 10, -3, my $t2 = "user", my $d2 = "nut-walls", 0) >= 0);
tell_("keyctl", syscall(250, 0, -3, 0) >= 0);
tell_("bpf", syscall(321, 0, my $b = "\0" x 128, 72) >= 0 || $! != 1);
tell_("shared memory", defined shmget($ENV{SHARED}, 16, 0));
tell_("preload", writes("/etc/ld.so.preload", 1));
tell_("root", writes("/planted", 1));
tell_("hosts beside", writes("/etc/gitconfig", 1));
tell_("var tmp", writes("/var/tmp/mine", 1));
tell_("tmp", writes("/tmp/mine", 1));
tell_("null", writes("/dev/null", 0));
tell_("devices", grep { chmod(0666, "/dev/$_") || utime(undef, undef, "/dev/$_") } qw(null zero full random urandom tty));
open(my $c, ">>", "/proc/sys/kernel/core_pattern") ? tell_("core_pattern", 1) : tell_("core_pattern", 0);
open(my $q, ">>", "/proc/sys/kernel/hostname") ? tell_("hostname", 1) : tell_("hostname", 0);
open(my $k, "<", "/proc/keys"); my $keys = join("", defined $k ? <$k> : ()); tell_("names of keys", $keys ne "");
`;

/** Not for anybody; the last two are what programs need and must keep. */
const FORBIDDEN =
  "vsock, alg, io_uring, add_key, keyring, keyctl, bpf, shared memory, preload, root, hosts beside, devices, core_pattern, hostname".split(
    ", ",
  );
const NEEDED = "unix, inet, inet6, netlink, tmp, var tmp, null".split(", ");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-escapes-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Shared memory of the person's, by its key, while `work` runs. */
async function besideSharedMemory<T>(work: (key: string) => Promise<T>): Promise<T> {
  const key = String(0x6e750000 + (process.pid % 65_536));
  const made = spawnSync("perl", ["-e", `exit(defined shmget(${key}, 16, 0600 | 01000) ? 0 : 1)`]);
  expect(made.status).toBe(0);
  try {
    return await work(key);
  } finally {
    spawnSync("perl", ["-e", `my $id = shmget(${key}, 16, 0); shmctl($id, 0, 0)`]);
  }
}

async function attempts(sandbox: Sandbox): Promise<Map<string, string>> {
  const { stdout, stderr } = await besideSharedMemory((key) =>
    runChild({ command: "perl", args: ["-e", ATTEMPTS], cwd: "/", env: { ...env, SHARED: key }, sandbox }),
  );
  expect(stderr.text).toBe("");
  return new Map(stdout.text.split("\n").map((line) => line.split("=") as [string, string]));
}

describe.skipIf(!held || perl === null || !known)("what the kernel offers", () => {
  let agent: Map<string, string>;
  let check: Map<string, string>;
  beforeAll(async () => {
    const accounts = join(folder, "etc");
    mkdirSync(accounts);
    agent = await attempts({ root: "system", network: "host" });
    check = await attempts({ root: "system", network: "none", neutral: { home: "/home/user", folder: accounts } });
  });

  it.each(FORBIDDEN)("is closed to an agent: %s", (name) => expect(agent.get(name)).toBe("no"));
  it.each([...FORBIDDEN, "names of keys"])("is closed to a check: %s", (name) => expect(check.get(name)).toBe("no"));
  it.each(NEEDED)("leaves what programs need: %s", (name) => {
    expect([agent.get(name), check.get(name)]).toEqual(["yes", "yes"]);
  });
});

describe.skipIf(!held)("a folder that whoever started us left open", () => {
  it("is not open in a check's room", () => {
    const [home, request] = [join(folder, "person"), join(folder, "request")];
    for (const path of [home, join(request, "tests"), join(request, "context")]) mkdirSync(path, { recursive: true });
    writeFileSync(join(home, "secret"), "CANARY");
    const put = (path: string, text: string) => writeFileSync(join(request, path), text);
    put("nutshell.json", JSON.stringify(REQUEST));
    put("context/requirements.md", "none\n");
    put("tests/criteria.json", JSON.stringify({ criteria: [{ id: "AC-1", type: "shell", script: "tests/look.sh" }] }));
    put(
      "tests/look.sh",
      "for fd in /proc/self/fd/*; do cat $fd/secret && echo x > $fd/planted; done; ls -l /proc/self/fd\n",
    );
    const open = openSync(home, "r");
    const stdio = Array.from({ length: 300 }, (_, at) => (at < 3 ? "pipe" : at === 277 ? open : "ignore") as "pipe");
    const args = [join(root, "bin/nutshell.js"), "accept", request, "--quick", "--logs", join(folder, "logs")];
    const ran = spawnSync(process.execPath, args, {
      cwd: folder,
      env: { ...env, HOME: folder },
      stdio,
      encoding: "utf8",
    });
    closeSync(open);
    expect(ran.stdout, ran.stderr).toContain("AC-1");
    const log = readFileSync(join(folder, "logs/AC-1.log"), "utf8");
    expect(log).toContain("277");
    expect(log).not.toContain("CANARY");
    expect(() => readFileSync(join(home, "planted"))).toThrow(/ENOENT/);
  });
});

const REQUEST = {
  nutshell_version: "0.2.0",
  bundle_type: "request",
  id: "nut-escape-1",
  created_at: "2026-01-01T00:00:00Z",
  task: { title: "look around", summary: "look around" },
  context: { requirements: "context/requirements.md" },
  acceptance: { criteria_file: "tests/criteria.json", test_scripts: [] },
};
