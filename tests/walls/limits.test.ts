// Whoever is given a machine to work on may try to take all of it. Small limits here, so that nobody else notices.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { endFailure } from "../../src/acceptance/runners/outcomes.js";
import { newTranscript, sessionEnd } from "../../src/drivers/agent-process.js";
import { bwrapAvailable, type ChildResult, DEFAULT_LIMITS, runChild, type Sandbox } from "../../src/process/index.js";

const held = await bwrapAvailable(process.env);
const MIB = 1024 ** 2;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync("/var/tmp/nut-limits-");
  for (const name of ["work", "etc"]) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const LIMITS = { tasks: 80, memoryBytes: 300 * MIB, diskBytes: 64 * MIB };

function run(script: string, sandbox: Sandbox | null, limits = LIMITS): Promise<ChildResult> {
  return runChild({
    command: "/bin/bash",
    args: ["-c", script],
    cwd: join(folder, "work"),
    env: { PATH: process.env.PATH },
    timeoutMs: 40_000,
    sandbox,
    limits,
  });
}

const agent = (): Sandbox => ({
  root: "system",
  network: "host",
  tmpBytes: 8 * MIB,
  mounts: [{ access: "writable", path: join(folder, "work") }],
});
const room = (): Sandbox => ({
  ...agent(),
  network: "none",
  neutral: { home: "/home/user", folder: join(folder, "etc"), maxBytes: 8 * MIB },
});

const HOGS: readonly [string, string, RegExp][] = [
  // Each starts two more, down to a depth: a test may not start processes without an end.
  [
    "a fork bomb",
    'bomb() { if [ "$1" -gt 0 ]; then bomb $(($1 - 1)) & bomb $(($1 - 1)) & fi; sleep 30; }; bomb 8',
    /^80 processes$/,
  ],
  ["processes without end", "for i in $(seq 200); do sleep 30 & done; wait", /^80 processes$/],
  [
    "a memory hog",
    "node -e 'const kept = []; setInterval(() => kept.push(Buffer.alloc(16 * 1024 ** 2, 1)), 5)'",
    /^300 MiB of memory$/,
  ],
  [
    "memory spread over many",
    "for i in 1 2 3 4 5 6; do node -e 'const kept = Buffer.alloc(60 * 1024 ** 2, 1); setTimeout(() => kept, 30_000)' & done; wait",
    /^300 MiB of memory$/,
  ],
  [
    "a disk filler",
    "i=0; while :; do i=$((i+1)); dd if=/dev/urandom of=f$i bs=1M count=8 2>/dev/null; done",
    /^64 MiB of disk$/,
  ],
];

describe.skipIf(!held)("in a sandbox (needs bwrap)", () => {
  it.each(HOGS)("%s in a check is ended", async (_, script, exceeded) => {
    const result = await run(script, room());
    expect(result).toMatchObject({ reason: "limit", exceeded: expect.stringMatching(exceeded) });
    expect(result.durationMs).toBeLessThan(30_000);
    expect(endFailure({ timeoutMs: 1 } as never, result)).toMatchObject({
      status: "failed",
      reason: `used more than ${result.exceeded}`,
    });
  });

  it("a fork bomb in an agent fails its session by name", async () => {
    const exit = await run(HOGS[0]![1], agent());
    const transcript = { ...newTranscript(), text: "done", turnEnded: true };
    expect(sessionEnd(transcript, exit, "")).toMatchObject({
      outcome: "failed",
      error: "it used more than 80 processes",
    });
  });

  it.each([
    ["an agent", agent],
    ["a check", room],
  ])("what is in memory has an end for %s", async (_, sandbox) => {
    const places = ["/tmp", "/dev/shm", "/var/tmp", "/"];
    const fill = places.map(
      (place) => `dd if=/dev/zero of=${place}/big bs=1M count=100 2>/dev/null; stat -c %s ${place}/big`,
    );
    const { stdout } = await run(`${fill.join("; ")}; echo x > /dev/new || echo closed`, sandbox());
    const sizes = stdout.text.trim().split("\n");
    expect(sizes.at(-1)).toBe("closed");
    for (const size of sizes.slice(0, -1)) expect(Number(size)).toBeLessThanOrEqual(64 * MIB);
  });

  it("one file that claims more than the disk may hold is refused by the kernel (needs prlimit)", async (context) => {
    if (!existsSync("/usr/bin/prlimit")) context.skip();
    const { stdout } = await run(
      "truncate -s 1G claimed; stat -c %s claimed; ulimit -f unlimited || echo held",
      room(),
    );
    expect(stdout.text).toBe("0\nheld\n");
  });

  it("leaves honest work alone", async () => {
    const script =
      "for i in $(seq 20); do sleep 0.6 & done; wait; dd if=/dev/zero of=f bs=1M count=20 2>/dev/null; echo fine";
    expect(await run(script, room())).toMatchObject({ reason: "exited", code: 0, stdout: { text: "fine\n" } });
  });
});

describe("without a sandbox", () => {
  it("a fork bomb is ended too, with all it left", async () => {
    const result = await run("for i in $(seq 200); do setsid sleep 30 & done; wait", null);
    expect(result).toMatchObject({ reason: "limit", exceeded: "80 processes" });
  });

  it("a limit of time that no timer can count is no limit of a moment", async () => {
    const result = await runChild({
      command: "/bin/sh",
      args: ["-c", "sleep 0.3; echo done"],
      cwd: folder,
      env: { PATH: process.env.PATH },
      timeoutMs: 1e12,
    });
    expect(result).toMatchObject({ reason: "exited", code: 0 });
  });
});

it("the usual limits are generous", () => {
  expect(DEFAULT_LIMITS.tasks).toBeGreaterThanOrEqual(4_096);
  expect(DEFAULT_LIMITS.diskBytes).toBeGreaterThanOrEqual(16 * 1024 * MIB);
});
