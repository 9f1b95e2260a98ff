import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { lightFork } from "./light-fork.js";
import { temporary } from "./temporary.js";

const library = lightFork(fileURLToPath(new URL("..", import.meta.url)));

/** Every way a test starts a program, and what comes of it. What differs from one time to the next is left out. */
const STARTS = `
const { spawn, spawnSync, execFileSync, fork } = require("node:child_process");
const { openSync, readFileSync } = require("node:fs");
const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const plain = ({ status, signal, stdout, stderr, error }) => [status, signal, String(stdout), String(stderr), error && error.code];
const ended = (child) => new Promise((resolve) => {
  let text = "";
  child.stdout?.on("data", (data) => (text += data));
  child.on("error", ({ code, syscall }) => resolve([code, syscall]));
  child.on("close", (...end) => resolve([text, ...end]));
});
const sh = (script, options = {}) => plain(spawnSync("/bin/sh", ["-c", script], { encoding: "utf8", ...options }));
async function all(thread) {
  const file = openSync("written", "w+");
  const said = [
    sh('echo "$A $HOME" in "$PWD"; echo wrong >&2; exit 3', { env: { A: "1" }, cwd: "/" }),
    sh("cat", { input: "x".repeat(300_000) }).map((part) => String(part).length),
    sh("kill -9 $$"),
    sh("sleep 5", { timeout: 50 }),
    sh("echo to a file; echo and there >&2", { stdio: ["ignore", file, file] }), readFileSync("written", "utf8"),
    sh("echo five >&5; cat <&4", { stdio: ["pipe", "pipe", "pipe", "ignore", openSync("/etc/hostname"), "pipe"] }).length,
    plain(spawnSync("/nowhere/program", [])), plain(spawnSync("/bin/true", [], { cwd: "/nowhere" })), plain(spawnSync("/", [])),
    plain(spawnSync("true", [], { env: { PATH: "/usr/bin:/bin" } })), plain(spawnSync("true", [], { env: { PATH: "/nowhere" } })),
    plain(spawnSync("/bin/true", ["x".repeat(3_000_000)])),
    await Promise.all(Array.from({ length: 12 }, (_, i) => ended(spawn("/bin/sh", ["-c", "sleep 0.0" + i + "; echo " + i])))),
    await ended(spawn("/bin/sh", ["-c", "ps -o pgid= -p $$ | tr -d ' ' | grep -qx $$ && echo a group of its own"], { detached: true })),
    await ended(spawn("/nowhere/program")),
    await ended(spawn("/bin/sh", ["-c", "exit 4"], { stdio: "inherit" })),
    process.env.HOME, process.env.LD_PRELOAD ?? "unset", Object.keys(process.env).length > 1,
  ];
  if (process.getuid() === 0 && !thread) said.push(plain(spawnSync("id", ["-u"], { uid: 1000, gid: 1000 })), process.getuid());
  return said;
}
if (!isMainThread) all(true).then((said) => parentPort.postMessage(said));
else (async () => {
  const inThreads = [1, 2].map(() => new Promise((resolve, reject) => new Worker(__filename).on("message", resolve).on("error", reject)));
  const here = await all(false);
  process.stdout.write(JSON.stringify([here, ...(await Promise.all(inThreads))], null, 1));
})();
`;

describe.skipIf(library === null)("a worker that does not copy its memory (cc, 64-bit x86)", () => {
  it("starts programs as any other does, from several threads, and tells none of them", () => {
    const folder = temporary("nut-light-fork-");
    writeFileSync(join(folder, "starts.cjs"), STARTS);
    const { LD_PRELOAD: _, ...env } = process.env;
    const run = (more: Record<string, string>) => {
      const options = { cwd: folder, env: { ...env, ...more }, encoding: "utf8", timeout: 50_000 } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, ["starts.cjs"], options);
      expect([status, stderr]).toEqual([0, ""]);
      return JSON.parse(stdout);
    };
    const usual = run({});
    expect(run({ LD_PRELOAD: library! })).toEqual(usual);
    expect(usual[0].length).toBeGreaterThan(16);
  });

  it("is the one that runs this", () => {
    expect(readFileSync("/proc/self/maps", "utf8")).toContain(library);
    expect(process.env.LD_PRELOAD).toBeUndefined();
  });
});
