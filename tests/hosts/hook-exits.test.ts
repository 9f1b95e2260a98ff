// A hook that breaks must still close the gate: only exit 2 does, and any other way to end lets the tool run.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { answerHook } from "../../src/hook/answer-hook.js";
import { asksForGate, findHost } from "../../src/hosts/index.js";
import { claudePayload, HOOK, type HookOptions, newProject, ROOT, runHook } from "./hook-process.js";

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Runs before the hook's own code. */
const sabotage = (code: string) => ({ NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(code)}` });

/** Once the hook's own code has begun, and while it waits for its input. */
const onceReady = (code: string) =>
  `const timer = setInterval(() => {
    if (process.listenerCount("uncaughtException") === 0) return;
    clearInterval(timer);
    ${code};
  }, 1);`;

const GATES: readonly (readonly [host: string, event: string | undefined])[] = [
  ["claude", "PreToolUse"],
  ["codex", "PreToolUse"],
  ["opencode", "tool.execute.before"],
  ["claude", undefined],
  ["claude", "NoSuchEvent"],
  ["nobody", "PostToolUse"],
];
const OTHERS: readonly (readonly [host: string, event: string])[] = [
  ["claude", "PostToolUse"],
  ["codex", "SessionStart"],
  ["opencode", "chat.message"],
];

/** A tester is about to write; the project's configuration makes the gate load the rest of the harness. */
function writing() {
  const { root, home } = newProject({
    ".nexus/state/tasks.json": '{"goal":"","decisions":[],"tasks":[]}',
    ".nexus/config.yml": "capabilities:\n  tester: [no_shell_exec]\n",
  });
  const who = { agent_id: "a1", agent_type: "tester" };
  const use = { tool_name: "Bash", tool_input: { command: "ls" }, ...who };
  return { home, payload: claudePayload(root, "PreToolUse", use) };
}

/** A copy of the hook whose other half is this. */
function hookWith(rest: string): string {
  const folder = mkdtempSync(join(tmpdir(), "nut-hook-"));
  made.push(folder);
  cpSync(dirname(HOOK), join(folder, "dist/hook"), { recursive: true });
  for (const name of ["core", "package.json"]) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  mkdirSync(join(folder, "dist/hook"), { recursive: true });
  writeFileSync(join(folder, "dist/hook/full.js"), rest);
  return join(folder, "dist/hook/hook.js");
}

describe("a hook that throws", () => {
  const boom = sabotage(onceReady('throw new Error("boom\\nboom")'));

  it.each(GATES)("denies: %s %s", async (host, event) => {
    const options: HookOptions = { host, keepOpen: true, env: boom, ...(event === undefined ? {} : { event }) };
    const { exit, stdout, stderr } = await runHook("{", options);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr.trimEnd()).toMatch(/^nexus: [^\n]*; denied$/);
  });

  it.each(OTHERS)("lets everything else go on: %s %s", async (host, event) => {
    const { exit, stderr } = await runHook("{", { host, event, keepOpen: true, env: boom });
    expect(exit).toBe(0);
    expect(stderr).toBe("nexus: could not decide: Error: boom boom\n");
  });

  it("denies when a promise is rejected that nobody waits for", async () => {
    const env = sabotage(onceReady('Promise.reject(new Error("lost"))'));
    const { exit, stderr } = await runHook("{", { event: "PreToolUse", keepOpen: true, env });
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: "nexus: could not decide: Error: lost; denied\n" });
  });

  it("denies when the rest of it cannot be loaded", async () => {
    const { payload, home } = writing();
    for (const rest of ['throw new Error("broken")', "export const nothing = 1;", "not JavaScript ("]) {
      const { exit, stdout } = await runHook(payload, { event: "PreToolUse", hook: hookWith(rest), home });
      expect({ exit, stdout }, rest).toEqual({ exit: 2, stdout: "" });
    }
  });
});

describe("a hook that is late", () => {
  it("denies, also when it waits for something that never comes", async () => {
    const { payload, home } = writing();
    const { exit, stdout, stderr, ms } = await runHook(payload, {
      event: "PreToolUse",
      hook: hookWith("await new Promise(() => {});"),
      home,
    });
    expect({ exit, stdout, stderr }).toEqual({
      exit: 2,
      stdout: "",
      stderr: "nexus: could not decide in time; denied\n",
    });
    expect(ms).toBeGreaterThan(1_500);
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("denies when the host loses patience with %s", async (signal) => {
    const env = sabotage('process.stderr.write("ready\\n");');
    const { exit, stderr } = await runHook("{", {
      event: "PreToolUse",
      keepOpen: true,
      env,
      // Once it runs its own code, and before it gives up on its input.
      onStart: (child) => child.stderr!.once("data", () => setTimeout(() => child.kill(signal), 400)),
    });
    expect(exit).toBe(2);
    expect(stderr).toContain("could not decide in time; denied");
  });
});

describe("what could not be decided", () => {
  const around = { env: {}, now: () => new Date() };
  const broken = (text: string) => new TextEncoder().encode(text);

  it.each([
    ["claude", '{"hook_event_name":"PreToolUse"}', 2],
    ["claude", '{"hook_event_name":"PostToolUse"}', 0],
    ["claude", '{"hook_event_name":7}', 2],
    ["claude", "[]", 2],
    ["codex", '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":7}', 2],
    ["opencode", '{"hook":"tool.execute.before"}', 2],
    ["opencode", '{"hook":"tool.execute.after"}', 0],
    ["opencode", '{"hook":null}', 2],
  ])("%s %s ends with %d", async (name, text, exit) => {
    // A payload that can be read says what it is, whatever the hint.
    for (const hint of [undefined, "PostToolUse", "PreToolUse"])
      expect((await answerHook(findHost(name)!, broken(text), around, hint)).exit).toBe(exit);
  });

  it.each([
    ["claude", "PreToolUse", 2],
    ["claude", "PostToolUse", 0],
    ["claude", undefined, 2],
    ["opencode", "tool.execute.before", 2],
    ["opencode", "dispose", 0],
  ])("%s, with nothing but the hint %s, ends with %d", async (name, hint, exit) => {
    for (const raw of [null, broken("{"), new Uint8Array([0x22, 0xff, 0x22])])
      expect((await answerHook(findHost(name)!, raw, around, hint)).exit).toBe(exit);
  });

  it("is told to the person in the host's own way, on one line", async () => {
    const claude = await answerHook(findHost("claude")!, broken('{"hook_event_name":"SessionEnd"}'), around);
    expect(JSON.parse(claude.stdout).systemMessage).toMatch(/^nexus: [^\n]+$/);
    const opencode = await answerHook(findHost("opencode")!, broken('{"hook":"dispose"}'), around);
    expect(opencode).toMatchObject({ stdout: "", stderr: expect.stringMatching(/^nexus: [^\n]+\n$/) });
  });

  it("names one event of each host that is a gate", () => {
    for (const name of ["claude", "codex", "opencode"]) {
      const host = findHost(name)!;
      expect(asksForGate(host, host.gateEvent)).toBe(true);
      expect(host.otherEvents.some((event) => asksForGate(host, event))).toBe(false);
    }
  });
});
