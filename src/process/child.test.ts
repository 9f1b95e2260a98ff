import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startChild } from "./child.js";
import { descendants } from "./descendants.js";
import { findProgram } from "./find-program.js";
import { runChild } from "./run-child.js";
import { bwrapAvailable, type Sandbox } from "./sandbox.js";

const env = { PATH: process.env.PATH };
const held = await bwrapAvailable(env);
const readOnly: Sandbox = { root: "read-only", network: "none" };

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "nut-child-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const sh = (script: string, more: object = {}) => runChild({ command: "sh", args: ["-c", script], cwd, env, ...more });
const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

/** Starts a grandchild that leaves the group, the session and its parent, then tells its pid. */
const ESCAPE =
  "(setsid sh -c 'echo $$ > pid; exec sleep 300' </dev/null >/dev/null 2>&1 &) ; while [ ! -s pid ]; do sleep 0.01; done";

describe("runChild", () => {
  it("gives back code, output and nothing of our environment", async () => {
    process.env.NUT_CANARY = "leak";
    const result = await sh("echo out; echo err >&2; env; exit 3");
    delete process.env.NUT_CANARY;
    expect(result).toMatchObject({ reason: "exited", code: 3, signal: null, stderr: { text: "err\n", cut: false } });
    expect(result.stdout.text).toMatch(/^out\n/);
    expect(result.stdout.text).not.toContain("NUT_CANARY");
  });

  it("feeds text to standard input, and survives a child that does not read it", async () => {
    expect((await sh("cat", { stdin: { text: "hello" } })).stdout.text).toBe("hello");
    expect((await sh("exit 0", { stdin: { text: "x".repeat(1_000_000) } })).code).toBe(0);
  });

  it("keeps head and tail of an endless output", async () => {
    const result = await sh("echo first; yes | head -c 3000000; echo last", { maxOutputBytes: 1000 });
    expect(result.stdout).toMatchObject({ cut: true, totalBytes: 3_000_011 });
    expect(result.stdout.text.length).toBeLessThan(1100);
    expect(result.stdout.text).toMatch(/^first\n[\s\S]*\n… \d+ bytes left out …\n[\s\S]*last\n$/);
  });

  it("ends a child whose time is up, even one that ignores SIGTERM", async () => {
    const result = await sh("trap '' TERM; while :; do sleep 0.05; done", { timeoutMs: 200, graceMs: 100 });
    expect(result).toMatchObject({ reason: "timeout", code: null, signal: "SIGKILL" });
    expect(result.durationMs).toBeLessThan(3_000);
  });

  it("lets a child end by itself when asked", async () => {
    const result = await sh("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.02; done", { timeoutMs: 300 });
    expect(result).toMatchObject({ reason: "timeout", code: 7, stdout: { text: "up\nbye\n" } });
  });

  it("stops when the signal is aborted", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    expect(await sh("sleep 300", { signal: controller.signal })).toMatchObject({ reason: "stopped" });
  });

  it("kills what escaped its group, its session and its parent", async () => {
    const result = await sh(`${ESCAPE}; exit 0`);
    expect(result).toMatchObject({ code: 0, leftBehind: 1 });
    expect(alive(Number(readFileSync(join(cwd, "pid"), "utf8")))).toBe(false);
  });

  it("leaves nobody behind who forks and ends while it looks", async () => {
    const quick = "(setsid sh -c 'sleep 300 & echo $! > pid' >/dev/null 2>&1 &); exit 0";
    for (let turn = 0; turn < 20; turn += 1) {
      const folder = mkdtempSync(join(cwd, "turn-"));
      await sh(quick, { cwd: folder });
      await new Promise((resolve) => setTimeout(resolve, 50));
      const file = join(folder, "pid");
      const pid = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
      const survived = pid > 0 && alive(pid);
      if (survived) process.kill(pid, "SIGKILL");
      expect(survived, `turn ${turn}`).toBe(false);
    }
  });

  it("does not wait for a pipe that a stranger keeps open", async () => {
    const started = performance.now();
    expect((await sh("sleep 300 & exit 0")).code).toBe(0);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("hears what came while we could not listen, before it gives a pipe up", async () => {
    writeFileSync(join(cwd, "open"), "");
    // Nobody waits in a folder that is gone.
    const wait = (file: string) => `while [ ! -e ${file} ] && [ -e open ]; do sleep 0.02; done`;
    const stranger = `touch here; ${wait("go")}; echo last; ${wait("heard")}; echo words`;
    const script = `echo $$; env -i PATH="$PATH" setsid -f sh -c '${stranger}'; ${wait("here")}`;
    let pid: number | undefined;
    const busy = setInterval(() => {
      if (pid === undefined || existsSync(`/proc/${pid}`)) return;
      clearInterval(busy);
      writeFileSync(join(cwd, "go"), "");
      // Longer than anybody waits for a pipe, and timers come next: the wait is over before anything could be read.
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100));
    }, 5);
    const result = await sh(script, {
      onOutput: (chunk: Buffer) => {
        pid ??= Number(chunk);
        if (String(chunk) === "last\n") writeFileSync(join(cwd, "heard"), "");
      },
    });
    expect(result.stdout.text).toBe(`${pid}\nlast\nwords\n`);
  });

  it("says which program is missing before anything runs", async () => {
    await expect(runChild({ command: "no-such-program", cwd, env })).rejects.toMatchObject({
      code: "PROGRAM_MISSING",
      message: "no-such-program: no such program on PATH",
    });
    // A path is not looked for on PATH.
    await expect(runChild({ command: "./no-such-program", cwd, env })).rejects.toMatchObject({
      code: "PROGRAM_MISSING",
      message: "./no-such-program: no file there that may be run",
    });
  });
});

describe.skipIf(!held)("a sandbox (needs bwrap)", () => {
  it("lets nothing be written but where it is told", async () => {
    writeFileSync(join(cwd, "kept"), "before");
    const result = await sh("echo x > kept; echo y > new; mkdir d; rm -f kept; echo z > /etc/nut-test; true", {
      sandbox: readOnly,
    });
    expect(result.stderr.text).toMatch(/Read-only file system/);
    expect(readFileSync(join(cwd, "kept"), "utf8")).toBe("before");
    expect(["new", "d", "/etc/nut-test"].map((name) => existsSync(join(cwd, name)))).toEqual([false, false, false]);

    await sh("echo y > new", { sandbox: { ...readOnly, mounts: [{ access: "writable", path: cwd }] } });
    expect(readFileSync(join(cwd, "new"), "utf8")).toBe("y\n");
  });

  it("hides folders and files", async () => {
    writeFileSync(join(cwd, "secret"), "s3cret");
    const file = { ...readOnly, mounts: [{ access: "hidden-file", path: join(cwd, "secret") }] };
    expect((await sh("cat secret", { sandbox: file })).stdout.text).toBe("");
    const folder = { ...readOnly, mounts: [{ access: "hidden", path: cwd }] };
    expect((await sh("ls", { sandbox: folder, cwd })).stdout.text).toBe("");
  });

  it("has no network but its own loopback", async () => {
    const { createServer } = await import("node:http");
    const server = createServer((_, response) => response.end("hello")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    const ask = `node -e "fetch('http://127.0.0.1:${port}').then(r=>r.text()).then(console.log,()=>console.log('refused'))"`;
    expect((await sh(ask, { sandbox: readOnly })).stdout.text).toBe("refused\n");
    expect((await sh(ask, { sandbox: { ...readOnly, network: "host" } })).stdout.text).toBe("hello\n");
    server.close();
  });

  it("asks the command inside to end, and takes everything down with it", async () => {
    const writable: Sandbox = { ...readOnly, mounts: [{ access: "writable", path: cwd }] };
    const polite = await sh("trap 'echo bye; exit 7' TERM; while :; do sleep 0.02; done", {
      sandbox: writable,
      timeoutMs: 300,
    });
    expect(polite).toMatchObject({ reason: "timeout", stdout: { text: "bye\n" } });
    const child = await startChild({
      command: "sh",
      args: ["-c", `${ESCAPE}; sleep 300`],
      cwd,
      env,
      sandbox: writable,
    });
    while (!existsSync(join(cwd, "pid"))) await new Promise((resolve) => setTimeout(resolve, 10));
    const family = descendants(child.pid).map(({ pid }) => pid);
    expect(family.length).toBeGreaterThan(2);
    await child.stop();
    expect(family.filter(alive)).toEqual([]);
  });

  it("refuses rather than running without the sandbox that was asked for", async () => {
    mkdtempSync(join(cwd, "empty-"));
    const bare = { PATH: cwd };
    await expect(runChild({ command: "/bin/sh", cwd, env: bare, sandbox: readOnly })).rejects.toMatchObject({
      code: "SANDBOX_MISSING",
    });
  });
});

describe("findProgram", () => {
  it("finds what a shell would, and never in a relative folder", () => {
    writeFileSync(join(cwd, "tool"), "", { mode: 0o755 });
    writeFileSync(join(cwd, "plain"), "", { mode: 0o644 });
    expect(findProgram("tool", { PATH: `/nowhere:${cwd}` })).toBe(join(cwd, "tool"));
    expect(findProgram("plain", { PATH: cwd })).toBeNull();
    expect(findProgram("tool", { PATH: ".:" }, cwd)).toBeNull();
    expect(findProgram("./tool", {}, cwd)).toBe(join(cwd, "tool"));
  });
});
