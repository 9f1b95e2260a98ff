// An agent, or bad luck, keeps the gate from answering. Hosts let a tool run unless the hook ends with 2, so whatever
// happens to ours, the command a host starts must end with it.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { claude } from "../../src/hosts/claude/host.js";
import { codex } from "../../src/hosts/codex/host.js";
import { hookCommand } from "../../src/hosts/index.js";
import { pluginFile } from "../../src/hosts/opencode/plugin-file.js";
import { findProgram } from "../../src/process/index.js";
import { claudePayload, HOOK, newProject } from "../hosts/hook-process.js";

const base = mkdtempSync(join(tmpdir(), "nut-walls-hooks-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let made = 0;
function script(code: string, ending = "cjs"): string {
  made += 1;
  const path = join(base, `hook-${made}.${ending}`);
  writeFileSync(path, code);
  return path;
}

interface Start {
  readonly host?: typeof claude;
  readonly event?: string;
  readonly node?: string;
  readonly hook?: string;
  readonly env?: Record<string, string>;
  /** Whether a mark says that a role that may not edit is at work. */
  readonly held?: boolean;
  /** How much memory a process there may have of its own. */
  readonly kilobytes?: number;
}

/** Starts what set-up installs, as a host does: through a shell, the payload on stdin. */
async function start({ host = claude, event = "PreToolUse", node = process.execPath, hook = HOOK, ...more }: Start) {
  const { root, home } = newProject();
  const marks = join(home, ".local/state/nutcracker/held");
  if (more.held === true) {
    mkdirSync(marks, { recursive: true });
    writeFileSync(join(marks, `${host.harnessId}-x`), "");
  }
  const command = hookCommand({ scope: "user", node, hook, platform: "linux" }, host, event);
  const env = { PATH: process.env.PATH ?? "", HOME: home, ...more.env };
  const limit = more.kilobytes === undefined ? "" : `ulimit -d ${more.kilobytes}; `;
  const child = spawn("/bin/sh", ["-c", limit + command], { cwd: root, env, detached: true });
  let stderr = "";
  child.stderr.on("data", (data) => (stderr += data));
  child.stdout.resume();
  child.stdin.on("error", () => {});
  const who = { agent_id: "a1", agent_type: "engineer" };
  child.stdin.end(JSON.stringify(claudePayload(root, event, { tool_name: "Read", tool_input: {}, ...who })));
  const started = performance.now();
  const exit = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { exit, stderr, ms: performance.now() - started, marks: existsSync(marks) ? readdirSync(marks) : [] };
}

/** Hears nothing and does nothing, as a loop would, and takes no processor from those beside it. */
const WAITS = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
const HOARDS = "const all = []; for (;;) all.push(new Array(1e5).fill(all.length));";

const broken: readonly (readonly [string, () => Start])[] = [
  ["node is gone", () => ({ node: join(base, "no-node") })],
  ["node may not be run", () => ({ node: script("") })],
  ["the hook is gone", () => ({ hook: join(base, "no-hook.js") })],
  ["the hook is a folder", () => ({ hook: base })],
  ["the hook is no program", () => ({ hook: script("not JavaScript (") })],
  ["it crashes", () => ({ hook: script("process.abort()") })],
  ["it runs out of memory", () => ({ hook: script(HOARDS), kilobytes: 200_000 })],
  ["it ends with a status of its own", () => ({ hook: script("process.exitCode = 13") })],
];

describe("a gate that cannot start", () => {
  it.each(broken)("denies while a role that may not edit is at work: %s", async (_, how) => {
    for (const host of [claude, codex]) {
      const { exit, stderr } = await start({ ...how(), host, held: true });
      expect(exit).toBe(2);
      expect(stderr).toContain("denied");
      expect(stderr).not.toContain("in time");
    }
  });

  it("denies for a process that was started in a role", async () => {
    expect((await start({ hook: join(base, "gone"), env: { NEXUS_ROLE: "reviewer" } })).exit).toBe(2);
  });

  it("tells the person when nobody but Lead is at work", async () => {
    const { exit, stderr } = await start({ hook: join(base, "gone") });
    expect(exit).toBe(1);
    expect(stderr).toContain("nexus: the gate cannot start");
  });

  it("is not kept from starting by options for other programs", async () => {
    const env = { NODE_OPTIONS: "--no-such-option --require /no/such/file" };
    for (const event of ["PreToolUse", "SubagentStart", "PostToolUse"])
      expect((await start({ env, event })).exit, event).toBe(0);
  });

  it("knows of an agent whose start could not be seen", async () => {
    const { marks } = await start({ event: "SubagentStart", hook: join(base, "gone") });
    expect(marks).toEqual(["nutcracker-claude-unseen"]);
    expect((await start({ event: "SubagentStart" })).marks).toEqual([]);
  });
});

describe.concurrent("a gate that hangs", () => {
  const hangs: readonly (readonly [string, () => Start])[] = [
    ["in a loop", () => ({ hook: script("for (;;);") })],
    ["on a pipe nobody writes to", () => ({ hook: script(`require("fs").readFileSync(${JSON.stringify(fifo())})`) })],
    ["deaf to being told to end", () => ({ hook: script(`process.on("SIGTERM", () => {}); ${WAITS}`) })],
  ];

  it.each(hangs)("is denied before a host gives up: %s", async (_, how) => {
    const { exit, stderr, ms } = await start(how());
    expect(exit).toBe(2);
    expect(stderr).toContain("nexus: could not decide in time, denied");
    expect(ms).toBeLessThan(15_000);
  });

  it("is denied where there is no timeout program", async ({ skip }) => {
    const perl = findProgram("perl", process.env);
    if (perl === null) return skip("perl is missing");
    const bin = join(base, "bin");
    mkdirSync(bin);
    symlinkSync(perl, join(bin, "perl"));
    const { exit, stderr } = await start({ hook: script(WAITS), env: { PATH: bin } });
    expect(exit).toBe(2);
    expect(stderr).toContain("nexus: could not decide in time, denied");
  });
});

describe("state that keeps a gate waiting", () => {
  it.each([
    ["the configuration", ".nexus/config.yml"],
    ["the record of agents", ".nexus/state/nutcracker-claude/agent-tracker.json"],
    ["the skill at work", ".nexus/state/nutcracker-claude/session.json"],
  ])("is denied: a pipe in the place of %s", async (_, file) => {
    const { root, home } = newProject({ "CLAUDE.md": "x" });
    mkdirSync(join(root, file, ".."), { recursive: true });
    spawnSync("mkfifo", [join(root, file)]);
    const write = { tool_name: "Write", tool_input: { file_path: "CLAUDE.md", content: "y" } };
    const command = hookCommand(
      { scope: "user", node: process.execPath, hook: HOOK, platform: "linux" },
      claude,
      "PreToolUse",
    );
    const input = JSON.stringify(
      claudePayload(root, "PreToolUse", { ...write, agent_id: "a1", agent_type: "engineer" }),
    );
    const env = { PATH: process.env.PATH, HOME: home };
    const { status } = spawnSync("/bin/sh", ["-c", command], { cwd: root, env, input, timeout: 20_000 });
    expect(status).toBe(2);
  });
});

function fifo(): string {
  const path = join(base, `fifo-${made}`);
  spawnSync("mkfifo", [path]);
  return path;
}

type Hook = (...given: unknown[]) => Promise<void>;

describe("OpenCode's plugin that cannot start", () => {
  const load = async (plugin: string) => {
    const file = script(pluginFile({ node: "node", hook: "hook", plugin: { path: plugin } }), "mjs");
    const { Nexus } = (await import(file)) as { Nexus: (input: object) => Promise<Record<string, Hook>> };
    return Nexus({ directory: base });
  };
  const unreadable = () => {
    const path = script("export const nexusPlugin = 1;");
    chmodSync(path, 0);
    return path;
  };

  it.each([
    ["is gone", () => join(base, "gone.mjs")],
    ["is no program", () => script("not JavaScript (")],
    ["has nothing in it", () => unreadable()],
  ])("blocks every tool of every agent, and not Lead's: %s", async (_, path) => {
    const hooks = await load(path());
    await hooks.event!({ event: { type: "session.created", properties: { info: { id: "kid", parentID: "top" } } } });
    await expect(hooks["tool.execute.before"]!({ sessionID: "kid", tool: "bash" }, {})).rejects.toThrow("denied");
    await expect(hooks["tool.execute.before"]!({ sessionID: "top", tool: "bash" }, {})).resolves.toBeUndefined();
  });
});
