// Where there is no sandbox, an agent in a role runs what it likes in its shell. What it does to files, to our records and to
// the settings of hosts is seen, and put back or refused. Everything goes through the hook.
import { spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { askHook, claudePayload, HOOK, type HookOptions, newProject, ROOT } from "../hosts/hook-process.js";

const SETTINGS =
  '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"node hook/hook.js claude PreToolUse"}]}]}}\n';
const TASKS = '{"goal":"g","decisions":[],"tasks":[{"id":1,"title":"t","context":"c","status":"pending","deps":[]}]}';

let root: string;
let home: string;
beforeEach(() => {
  ({ root, home } = newProject({
    "a.txt": "hello\n",
    "sub/b.txt": "b\n",
    ".claude/settings.json": SETTINGS,
    ".claude/agents/tester.md": "tester\n",
    ".nexus/state/tasks.json": TASKS,
  }));
});

const TRACKER = ".nexus/state/nutcracker-claude/agent-tracker.json";
const at = (path: string) => join(root, path);
const read = (path: string) => readFileSync(at(path), "utf8");
const put = (path: string, text: string) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const lookout = () => join(home, ".local/state/nutcracker/lookout");
const sh = (command: string) => spawnSync("/bin/bash", ["-c", command], { cwd: root, timeout: 20_000 });

async function fire(event: string, fields: object = {}, options: HookOptions = {}) {
  const payload = claudePayload(root, event, fields);
  const { exit, stdout, stderr } = await askHook(payload, { event, home, env: { NEXUS_SANDBOX: "off" }, ...options });
  const { systemMessage = "", hookSpecificOutput = {} } = stdout === "" ? {} : JSON.parse(stdout);
  const { permissionDecision, permissionDecisionReason = "" } = hookSpecificOutput;
  const denied = exit === 2 ? stderr : permissionDecision === "deny" ? permissionDecisionReason : null;
  return { message: systemMessage as string, denied: denied as string | null };
}

const who = (role: string, id = "a1") => ({ agent_id: id, agent_type: role });
const begin = () => fire("SessionStart", { source: "startup" });
const startAgent = (role: string, id?: string) => fire("SubagentStart", who(role, id));
const stopAgent = (role: string, id?: string) =>
  fire("SubagentStop", { ...who(role, id), last_assistant_message: "ok" });
const use = (role: string, tool_name: string, tool_input: object, more: object = {}) =>
  fire("PreToolUse", { ...who(role), tool_name, tool_input, ...more });
const bash = (role: string, command: string, more: object = {}) => use(role, "Bash", { command }, more);

describe("a reviewer without a sandbox", () => {
  beforeEach(async () => {
    await begin();
    await startAgent("reviewer");
  });

  it("is put back although it deletes the project's state", async () => {
    sh("rm -rf .nexus/state; echo x > a.txt");
    expect((await stopAgent("reviewer")).message).toContain("put back");
    expect(read("a.txt")).toBe("hello\n");
  });

  it.each([
    ["empties the tracker", () => put(TRACKER, "[]")],
    ["makes the tracker unreadable", () => put(TRACKER, "{broken")],
    ["calls itself done", () => put(TRACKER, read(TRACKER).replace("running", "completed"))],
    ["calls itself an engineer", () => put(TRACKER, read(TRACKER).replace("reviewer", "engineer"))],
  ])("is put back and stays a reviewer although it %s", async (_, attack) => {
    attack();
    put("a.txt", "x");
    const write = await use("engineer", "Write", { file_path: at("a.txt"), content: "x" });
    expect(write.denied).not.toBeNull();
    expect((await stopAgent("engineer")).message).toContain("put back");
    expect(read("a.txt")).toBe("hello\n");
  });

  it("may do nothing more when the remembered tree is gone, and Lead is told", async () => {
    expect((await bash("reviewer", "npm test")).denied).toBeNull();
    for (const name of readdirSync(lookout())) rmSync(join(lookout(), name, "trees"), { recursive: true, force: true });
    expect((await bash("reviewer", "npm test")).denied).toContain("the tree remembered for it is gone");
    expect((await use("reviewer", "Read", { file_path: "a.txt" })).denied).toBeNull();
    expect((await stopAgent("reviewer")).message).toContain("nobody can tell what it changed");
  });

  it("may do nothing more when all records of it are gone", async () => {
    for (const name of readdirSync(lookout()))
      rmSync(join(lookout(), name, "agents"), { recursive: true, force: true });
    put(TRACKER, "[]");
    expect((await bash("reviewer", "npm test")).denied).toContain("its start was not recorded");
  });

  it("cannot hide files behind names that are not UTF-8", async () => {
    sh("printf x > $'\\xff\\xfe'; mkdir $'d\\xe9'; printf y > $'d\\xe9/in'; ln -s a.txt $'l\\xe9'");
    expect(readdirSync(root, { encoding: "buffer" }).some((name) => name.includes(0xff))).toBe(true);
    expect((await stopAgent("reviewer")).message).toContain("put back");
    expect(readdirSync(root).sort()).toEqual([".claude", ".git", ".nexus", "a.txt", "sub"]);
  });

  it("cannot have its edits accepted by announcing itself again", async () => {
    put("a.txt", "x");
    await startAgent("reviewer");
    expect((await stopAgent("reviewer")).message).toContain("a.txt");
    expect(read("a.txt")).toBe("hello\n");
  });

  it("is told of to Lead when something it left running writes later", async () => {
    const late = spawn("/bin/sh", ["-c", `sleep 1; echo late > ${at("a.txt")}`], { detached: true, stdio: "ignore" });
    const done = new Promise((resolve) => late.on("close", resolve));
    expect((await stopAgent("reviewer")).message).toBe("");
    await done;
    await sleep(50);
    expect((await fire("UserPromptSubmit", { prompt: "hi" })).message).toContain("a.txt");
    expect((await fire("UserPromptSubmit", { prompt: "hi" })).message).toBe("");
  });

  it.each([
    ["another folder", () => join(root, "../elsewhere")],
    ["a repository inside the project", () => at("nested")],
  ])("is held to the project it began in, in %s", async (_, folder) => {
    const cwd = folder();
    mkdirSync(join(cwd, ".git"), { recursive: true });
    const options = { cwd };
    for (const command of [`echo x > ${at("a.txt")}`, `rm ${at("sub/b.txt")}`, `cd ${root}; touch c`])
      expect((await bash("reviewer", command, options)).denied, command).toContain("may not change files");
    put("a.txt", "x");
    const stop = await fire("SubagentStop", { ...who("reviewer"), last_assistant_message: "ok", cwd });
    expect(stop.message).toContain("a.txt");
    expect(read("a.txt")).toBe("hello\n");
    expect(existsSync(join(cwd, ".nexus"))).toBe(false);
  });

  it("is not left unheld when its gate breaks", () => {
    const marks = join(home, ".local/state/nutcracker/held");
    expect(readdirSync(marks)).toEqual([expect.stringMatching(/^nutcracker-claude-[0-9a-f]{16}-a1$/)]);
  });

  it("leaves no mark behind", async () => {
    await stopAgent("reviewer");
    expect(readdirSync(join(home, ".local/state/nutcracker/held"))).toEqual([]);
    await fire("SessionEnd", { reason: "other" });
    expect(readdirSync(lookout())).toEqual(["sessions"]);
    expect(readdirSync(join(lookout(), "sessions"))).toEqual([]);
  });
});

describe("an engineer", () => {
  beforeEach(async () => {
    for (const host of ["claude", "qwen", "gemini"]) {
      mkdirSync(join(home, `.${host}`), { recursive: true });
      writeFileSync(join(home, `.${host}/settings.json`), SETTINGS.replace("claude", host));
    }
    await begin();
    await startAgent("engineer");
  });
  const inHome = (text: string, host = "claude") => writeFileSync(join(home, `.${host}/settings.json`), text);

  it.each([
    ["empties the hooks", () => put(".claude/settings.json", "{}"), ".claude/settings.json"],
    ["deletes the settings", () => rmSync(at(".claude/settings.json")), ".claude/settings.json"],
    [
      "puts a folder in their place",
      () => sh("rm .claude/settings.json; mkdir .claude/settings.json"),
      "settings.json",
    ],
    ["puts a pipe in their place", () => sh("rm .claude/settings.json; mkfifo .claude/settings.json"), "settings.json"],
    [
      "puts a link in their place",
      () => sh("mv .claude/settings.json x; ln -s /dev/null .claude/settings.json"),
      "settings",
    ],
    [
      "switches hooks off beside them",
      () => put(".claude/settings.local.json", '{"disableAllHooks": true}'),
      "local.json",
    ],
    ["rewrites a role", () => put(".claude/agents/tester.md", "you may edit"), "tester.md"],
    ["adds a role", () => put(".claude/agents/other.md", "you may edit"), "other.md"],
    ["adds a server", () => put(".mcp.json", "{}"), ".mcp.json"],
    ["adds a plugin of OpenCode's", () => put(".opencode/plugins/x.js", "export {}"), "x.js"],
    ["empties the hooks of the person", () => inHome("{}"), ".claude/settings.json"],
    ["empties the hooks of Qwen Code", () => inHome("{}", "qwen"), ".qwen/settings.json"],
    ["empties the hooks of Gemini CLI", () => inHome("{}", "gemini"), ".gemini/settings.json"],
    [
      "switches Gemini CLI's hooks off",
      () => inHome(`{"hooksConfig":{"enabled":false},${SETTINGS.replace("claude", "gemini").slice(1)}`, "gemini"),
      ".gemini/settings.json",
    ],
    ["frees a role in the configuration", () => put(".nexus/config.yml", "capabilities: {}\n"), "config.yml"],
  ])("who %s is refused, and it is put back", async (_, attack, name) => {
    const before = {
      project: read(".claude/settings.json"),
      home: readFileSync(join(home, ".claude/settings.json"), "utf8"),
    };
    attack();
    expect((await bash("engineer", "ls")).denied).toContain("which only a person may");
    const { message } = await stopAgent("engineer");
    expect(message).toContain(name);
    expect(message).toContain("put back");
    expect(read(".claude/settings.json")).toBe(before.project);
    expect(statSync(at(".claude/settings.json")).isFile()).toBe(true);
    expect(readFileSync(join(home, ".claude/settings.json"), "utf8")).toBe(before.home);
    for (const made of [".claude/settings.local.json", ".claude/agents/other.md", ".mcp.json", ".nexus/config.yml"])
      expect(existsSync(at(made)), made).toBe(false);
    expect(read(".claude/agents/tester.md")).toBe("tester\n");
  });

  it("cannot make us put in order what a link leads to", async () => {
    const theirs = join(home, "documents");
    mkdirSync(theirs);
    for (const name of ["letter.md", "settings.json"]) writeFileSync(join(theirs, name), "mine");
    sh(`mv .claude elsewhere; ln -s ${theirs} .claude`);
    expect((await stopAgent("engineer")).message).toContain("put back");
    expect(readdirSync(theirs).sort()).toEqual(["letter.md", "settings.json"]);
    expect(readFileSync(join(theirs, "settings.json"), "utf8")).toBe("mine");
    expect([read(".claude/settings.json"), read(".claude/agents/tester.md")]).toEqual([SETTINGS, "tester\n"]);
  });

  it("cannot make us log where a link leads, nor keep lessons there", async () => {
    const theirs = join(home, "documents");
    mkdirSync(theirs);
    const lesson = "# A\n\nsame\n\nsame\n";
    for (const name of [".bashrc", "second"]) writeFileSync(join(home, name), "mine\n");
    writeFileSync(join(theirs, "notes.md"), lesson);
    sh(`rm -f .nexus/state/tool-log.jsonl ${TRACKER.replace("agent-tracker.json", "tool-log.extension.jsonl")}
      ln -s ${home}/.bashrc .nexus/state/tool-log.jsonl
      ln ${home}/second ${TRACKER.replace("agent-tracker.json", "tool-log.extension.jsonl")}
      rm -rf .nexus/memory; ln -s ${theirs} .nexus/memory`);
    const edit = { tool_name: "Edit", tool_input: { file_path: at("$(touch x)") } };
    await fire("PostToolUse", { ...who("engineer"), ...edit, tool_response: {} });
    for (const prompt of ["[m] never do that again", "[m:gc]"]) await fire("UserPromptSubmit", { prompt });
    expect([".bashrc", "second"].map((name) => readFileSync(join(home, name), "utf8"))).toEqual(["mine\n", "mine\n"]);
    expect(readdirSync(theirs)).toEqual(["notes.md"]);
    expect(readFileSync(join(theirs, "notes.md"), "utf8")).toBe(lesson);
    expect(read(".nexus/state/tool-log.jsonl")).toContain("$(touch x)");
  });

  it("who empties the tracker is put back into it, and Lead is told", async () => {
    put(TRACKER, "[]");
    expect((await stopAgent("engineer")).message).toContain("agent-tracker.json had lost the engineer a1");
    expect(JSON.parse(read(TRACKER))).toMatchObject([{ agent_id: "a1", agent_name: "engineer", status: "completed" }]);
  });

  it.each([
    "rm -rf ~/.local/state/nutcracker",
    "echo x > ~/.local/state/nutcracker/held/x",
    "rm -rf .claude",
    "echo > ~/.codex/hooks.json",
  ])("is denied %s outright", async (command) => {
    expect((await bash("engineer", command)).denied).toContain("off limits");
  });

  it("is not blamed for what the host or Lead changes", async () => {
    put(".claude/settings.local.json", '{"permissions":{"allow":["Bash(ls)"]}}');
    inHome(`${SETTINGS.trimEnd().slice(0, -1)},"model":"opus"}\n`);
    const wanted = SETTINGS.replace("{", '{"model":"x",');
    put(".claude/settings.json", wanted);
    const edit = { tool_name: "Write", tool_input: { file_path: at(".claude/settings.json"), content: "" } };
    await fire("PostToolUse", { ...edit, tool_response: {} });
    expect((await bash("engineer", "ls")).denied).toBeNull();
    expect((await stopAgent("engineer")).message).toBe("");
    expect(read(".claude/settings.json")).toBe(wanted);
    expect(existsSync(at(".claude/settings.local.json"))).toBe(true);
  });
});

// Who is root may read everything, so the hook runs as somebody else there, from a copy that anybody may read.
const asNobody: { uid?: number; hook?: string } = process.getuid?.() === 0 ? { uid: 65_534 } : {};
const mayEnter =
  spawnSync("/bin/sh", ["-c", `cd ${tmpdir()}`], {
    cwd: "/",
    ...(asNobody.uid === undefined ? {} : { uid: asNobody.uid }),
  }).status === 0;

describe.skipIf(!mayEnter)("folders that nobody may read (needs a temporary folder others may enter)", () => {
  const nobodysShell = (command: string) =>
    spawnSync("/bin/bash", ["-c", command], {
      cwd: root,
      ...(asNobody.uid === undefined ? {} : { uid: asNobody.uid }),
    });

  beforeEach(() => {
    if (asNobody.uid === undefined) return;
    const copy = join(root, "../program");
    cpSync(dirname(HOOK), join(copy, "dist/hook"), { recursive: true });
    for (const name of ["core", "package.json"]) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    asNobody.hook = join(copy, "dist/hook/hook.js");
    for (const folder of [dirname(root), root, home, copy]) {
      chownSync(folder, asNobody.uid, asNobody.uid);
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
        chownSync(join(folder, name), asNobody.uid, asNobody.uid);
    }
  });

  it.each([
    ["made unreadable", "echo x > sub/b.txt; chmod 000 sub", "sub/b.txt"],
    ["that can be listed but not entered", "echo x > sub/b.txt; chmod 400 sub", "sub/b.txt"],
    ["that may not be written", "echo x > sub/b.txt; chmod 500 sub", "sub/b.txt"],
    ["of its own", "mkdir -p own/deep; echo x > own/deep/f; chmod 000 own/deep own", "own"],
    ["that are files", "echo x > a.txt; chmod 000 a.txt", "a.txt"],
    ["and the project itself", "echo x > a.txt; chmod 000 .", "a.txt"],
  ])("%s hide nothing", async (_, attack, name) => {
    await fire("SessionStart", { source: "startup" }, asNobody);
    await fire("SubagentStart", who("reviewer"), asNobody);
    expect(nobodysShell(attack).status).toBe(0);
    const { message } = await fire("SubagentStop", { ...who("reviewer"), last_assistant_message: "ok" }, asNobody);
    expect(message).toContain(name);
    expect(message).toContain("put back");
    expect([read("a.txt"), read("sub/b.txt"), existsSync(at("own"))]).toEqual(["hello\n", "b\n", false]);
    expect([statSync(at("sub")).mode & 0o777, statSync(root).mode & 0o777]).toEqual([0o755, 0o755]);
  });
});
