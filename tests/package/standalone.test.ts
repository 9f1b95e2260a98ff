import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { bunOf, hostTarget } from "../../scripts/standalone/targets.js";
import { root } from "./installed.js";

const target = hostTarget();

/** Why there is nothing to test here; null when there is. */
const missing = ((): string | null => {
  if (target === null) return "no single file is made for this platform";
  try {
    bunOf(target);
    return null;
  } catch (error) {
    return `Bun could not be had from npm: ${(error as Error).message}`;
  }
})();

let work: string;
let prefix: string;
let bin: string;
let built: string;
/** Programs the tools start; node is among them because the examples' own tests are scripts for it. */
const path = () => [bin, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
const env = () => ({ PATH: path(), HOME: join(work, "home") });

function run(tool: string, args: readonly string[], options: { cwd?: string; input?: string; env?: object } = {}) {
  const { status, stdout, stderr } = spawnSync(join(bin, tool), args, {
    cwd: options.cwd ?? work,
    encoding: "utf8",
    env: { ...env(), ...options.env },
    timeout: 60_000,
    ...(options.input === undefined ? { stdio: ["ignore", "pipe", "pipe"] } : { input: options.input }),
  });
  return { status, stdout, stderr };
}

const install = (from: string, prefix: string) =>
  spawnSync("sh", [join(root, "install.sh"), "--from", from, "--prefix", prefix], { encoding: "utf8" });

const project = (name: string) => {
  const folder = join(work, name);
  mkdirSync(join(folder, ".nexus"), { recursive: true });
  return folder;
};

/** Where a project's settings find us on this machine. */
const launcher = () => readFileSync(join(work, "home/.local/state/nutcracker/here/nexus"), "utf8");

describe.skipIf(missing !== null)(`single files${missing === null ? "" : ` (${missing})`}`, () => {
  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), "nutcracker-standalone-"));
    mkdirSync(join(work, "home"));
    // Not in the temporary folder: agents and code under test are given one of their own in its place.
    mkdirSync(join(root, ".cache"), { recursive: true });
    prefix = mkdtempSync(join(root, ".cache/prefix-"));
    bin = join(prefix, "bin");
    built = join(work, "built");
    execFileSync(process.execPath, ["--import", "tsx", "scripts/build-standalone.ts", target!, "--out", built], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const { status, stderr } = install(built, prefix);
    expect(status, stderr).toBe(0);
  });
  afterAll(() => {
    for (const folder of [work, prefix]) rmSync(folder, { recursive: true, force: true });
  });

  it("are installed by name, with their checksums checked", () => {
    expect(readdirSync(bin).sort()).toEqual(["nexus", "nutshell"]);
    const sums = readFileSync(join(built, "SHA256SUMS"), "utf8");
    expect(sums).toMatch(new RegExp(`^[0-9a-f]{64} {2}nexus-${target}$`, "m"));
  });

  it("are not installed at all when one is not what the checksums say", () => {
    const bad = join(work, "bad");
    mkdirSync(bad);
    for (const tool of ["nutshell", "nexus"]) writeFileSync(join(bad, `${tool}-${target}`), tool);
    copyFileSync(join(built, "SHA256SUMS"), join(bad, "SHA256SUMS"));
    const { status, stderr } = install(bad, join(work, "bad-prefix"));
    expect(status).toBe(2);
    expect(stderr).toContain("is not what SHA256SUMS says");
    expect(existsSync(join(work, "bad-prefix"))).toBe(false);
    expect(install("http://example.org/x", join(work, "bad-prefix")).stderr).toContain(
      "neither https nor this machine",
    );
  });

  it("know who they are", () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    for (const tool of ["nutshell", "nexus"]) {
      const { status, stdout, stderr } = run(tool, ["version", "--json"]);
      expect({ status, stderr, ...JSON.parse(stdout) }).toMatchObject({ status: 0, stderr: "", name: tool, version });
    }
    expect(run("nutshell", ["no-such-command"]).status).toBe(2);
  });

  it("pack what node packs, and read what it packed", () => {
    const example = join(root, "examples/2-feature");
    expect(run("nutshell", ["pack", "--dir", example, "-o", "single.nut"]).status).toBe(0);
    const node = spawnSync(
      process.execPath,
      [join(root, "bin/nutshell.js"), "pack", "--dir", example, "-o", "node.nut"],
      {
        cwd: work,
      },
    );
    expect(node.status).toBe(0);
    const digest = (file: string) => JSON.parse(run("nutshell", ["inspect", file, "--json"]).stdout).content_digest;
    expect(digest("single.nut")).toMatch(/^sha256:/);
    expect(digest("single.nut")).toBe(digest("node.nut"));
    expect(run("nutshell", ["validate", "node.nut"]).status).toBe(0);
    expect(run("nutshell", ["pack", "--dir", example, "-o", "zstd.nut", "--compression", "zstd"]).status).toBe(0);
    expect(digest("zstd.nut")).toBe(digest("node.nut"));
    expect(run("nutshell", ["unpack", "node.nut", "-o", "unpacked"]).status).toBe(0);
    expect(run("nutshell", ["export", "node.nut", "-o", "page.html"]).status).toBe(0);
    expect(readFileSync(join(work, "page.html"), "utf8")).toContain('<div id="app">');
  });

  it("run the demo, from request to verified delivery", () => {
    const folder = project("demo");
    const cwd = { cwd: folder };
    expect(run("nutshell", ["pack", "--dir", join(root, "examples/1-bug-fix"), "-o", "request.nut"], cwd).status).toBe(
      0,
    );
    const done = run("nexus", ["run", "request.nut", "--driver", "demo", "-o", "delivery.nut", "--yes"], cwd);
    expect(done.status, done.stderr).toBe(0);
    const verified = run("nutshell", ["verify", "delivery.nut", "--request", "request.nut", "--rerun", "--json"], cwd);
    expect(verified.status, verified.stderr).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({ verified: true, status: "completed", backed: true });
  });

  it("carry the core: every conformance fixture holds", () => {
    const { status, stdout, stderr } = run("nexus", ["conformance"], { cwd: project("conformance") });
    expect(status, stdout + stderr).toBe(0);
  });

  it("wait for a lock that node holds, and node's for theirs: it is the kernel's own", async () => {
    const folder = project("locked");
    const add = ["task", "add", "first", "with the lock free"];
    expect(run("nexus", add, { cwd: folder }).status).toBe(0);
    const lock = readdirSync(join(folder, ".nexus/state"), { recursive: true, encoding: "utf8" }).find((file) =>
      file.endsWith("store.lock"),
    )!;
    const addon = pathToFileURL(join(root, "node_modules/fs-native-extensions/index.js")).href;
    const script = `import { openSync } from "node:fs"; import addon from ${JSON.stringify(addon)};
      const fd = openSync(process.argv[1], "r+"); if (!addon.tryLock(fd)) process.exit(1);
      console.log("held"); setTimeout(() => { console.log(Date.now()); process.exit(0); }, 1500);`;
    const holder = spawn(process.execPath, ["--input-type=module", "-e", script, join(folder, ".nexus/state", lock)]);
    let said = "";
    holder.stdout.on("data", (data) => {
      said += data;
    });
    await until(() => said.includes("held"));
    const ended = new Promise((resolve) => holder.once("close", resolve));
    const second = spawn(join(bin, "nexus"), ["task", "add", "second", "with the lock held"], {
      cwd: folder,
      env: env(),
    });
    const done = await new Promise<{ code: number | null; at: number }>((resolve) =>
      second.once("close", (code) => resolve({ code, at: Date.now() })),
    );
    await ended;
    expect(done.code).toBe(0);
    expect(done.at).toBeGreaterThanOrEqual(Number(said.split("\n")[1]));
  });

  it("lose nothing when two of them write at once", async () => {
    const folder = project("two");
    const writer = async (name: string) => {
      for (let n = 0; n < 8; n++) {
        const child = spawn(join(bin, "nexus"), ["task", "add", `${name}${n}`, "both at once"], {
          cwd: folder,
          env: env(),
        });
        expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
      }
    };
    await Promise.all([writer("a"), writer("b")]);
    const { stdout } = run("nexus", ["call", "task_list", "{}"], { cwd: folder });
    const titles = ["a", "b"].flatMap((name) => Array.from({ length: 8 }, (_, n) => `${name}${n}`));
    for (const title of titles) expect(stdout).toContain(title);
  });

  it("speak MCP and answer hooks with themselves as the program", () => {
    const folder = project("host");
    const messages = [
      {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
    ];
    const input = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
    const { stdout } = run("nexus", ["mcp"], { cwd: folder, input });
    const listed = stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .find(({ id }) => id === 2);
    expect(listed.result.tools).toHaveLength(11);

    const write = { tool_name: "Write", tool_input: { file_path: join(folder, "a.txt"), content: "x" } };
    const payload = { hook_event_name: "PreToolUse", session_id: "s", cwd: folder, ...write };
    const gate = run("nexus", ["hook", "claude", "PreToolUse"], { cwd: folder, input: JSON.stringify(payload) });
    expect(gate.status).toBe(0);
    expect(JSON.parse(gate.stdout).hookSpecificOutput.permissionDecision).toBe("deny");
    expect(run("nexus", ["hook", "claude", "PreToolUse"], { cwd: folder, input: "{" }).status).toBe(2);
    expect(run("nexus", ["hook", "nobody"], { cwd: folder, input: "{}" }).status).toBe(2);
  });

  it("set hosts up with hooks that start them, and take themselves out again", () => {
    const folder = project("setup");
    expect(run("nexus", ["setup", "claude", "--yes"], { cwd: folder }).status).toBe(0);
    for (const name of [".claude/settings.json", ".mcp.json"])
      expect(readFileSync(join(folder, name), "utf8")).not.toContain(bin);
    expect(launcher()).toContain(`${bin}/nexus`);
    expect(run("nexus", ["setup", "claude", "--yes"], { cwd: folder }).stdout).toContain("nothing to change");
    const doctor = run("nexus", ["doctor"], { cwd: folder });
    expect(doctor.status, doctor.stdout).toBe(0);
    expect(doctor.stdout).toMatch(/^ok +claude project hooks/m);
    expect(run("nexus", ["setup", "claude", "--remove", "--yes"], { cwd: folder }).status).toBe(0);
    expect(existsSync(join(folder, ".claude/settings.json"))).toBe(false);
  });

  it("write OpenCode a plugin that gates without any file of ours beside it", async () => {
    const folder = project("opencode");
    expect(run("nexus", ["setup", "opencode", "--yes"], { cwd: folder }).status).toBe(0);
    const plugin = await import(pathToFileURL(join(folder, ".opencode/plugins/nexus.js")).href);
    expect(Object.keys(plugin)).toEqual(["Nexus"]);
    vi.stubEnv("XDG_STATE_HOME", join(work, "home/.local/state"));
    const hooks = await plugin.Nexus({ directory: folder });
    vi.unstubAllEnvs();
    const call = (tool: string, args: object) =>
      hooks["tool.execute.before"]({ sessionID: "s", tool, callID: "c" }, { args });
    await expect(call("write", { filePath: "a.txt", content: "x" })).rejects.toThrow("no task list");
    await expect(call("read", { filePath: "a.txt" })).resolves.toBeUndefined();
  });

  it("are what the package's own setup prefers when they are on PATH and of its version", () => {
    const folder = project("prefer");
    const setup = (extra: object) => {
      const { status } = spawnSync(process.execPath, [join(root, "bin/nexus.js"), "setup", "claude", "--yes"], {
        cwd: folder,
        env: { ...env(), ...extra },
      });
      expect(status).toBe(0);
      return launcher();
    };
    expect(setup({})).toContain(`${bin}/nexus`);
    const settings = () => readFileSync(join(folder, ".claude/settings.json"), "utf8");
    const before = settings();
    expect(setup({ PATH: "/usr/bin:/bin" })).toContain("dist/hook/hook.js");
    expect(launcher()).not.toContain(`${bin}/nexus`);
    // Going over from one to the other, there is one hook per event and not two.
    expect(settings()).toBe(before);
  });

  it("do not read settings that lie where they are started", () => {
    const folder = project("dotenv");
    writeFileSync(join(folder, ".env"), "NEXUS_ROLE=reviewer\nNEXUS_PROJECT_DIR=/nowhere\n");
    writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./evil.js"]\n');
    writeFileSync(join(folder, "evil.js"), 'require("fs").writeFileSync("evil", "");\n');
    expect(run("nexus", ["status"], { cwd: folder }).status).toBe(0);
    expect(existsSync(join(folder, "evil"))).toBe(false);
  });
});

async function until(ready: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !ready(); turn++) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(ready()).toBe(true);
}
