import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { askHook, claudePayload, type HookOptions, newProject, runHook } from "./hook-process.js";

const TASKS = JSON.stringify({
  goal: "",
  decisions: [],
  tasks: [{ id: 1, title: "t", context: "c", status: "pending", deps: [] }],
});
const planned = () => newProject({ ".nexus/state/tasks.json": TASKS });

const use = (root: string, tool: string, input: object, fields: object = {}) =>
  claudePayload(root, "PreToolUse", { tool_name: tool, tool_input: input, tool_use_id: "t1", ...fields });

const denial = (stdout: string): string | null => {
  if (stdout === "") return null;
  const { permissionDecision, permissionDecisionReason } = JSON.parse(stdout).hookSpecificOutput ?? {};
  return permissionDecision === "deny" ? permissionDecisionReason : null;
};

describe("gate: what was denied", () => {
  it("is a line of the tool log, where there is a session, and nothing anywhere else", async () => {
    const { root } = newProject();
    await askHook(use(root, "Write", { file_path: "a.txt", content: "x" }));
    expect(existsSync(join(root, ".nexus"))).toBe(false);
    const session = planned();
    const fields = { agent_id: "a1", agent_type: "tester" };
    await askHook(use(session.root, "Write", { file_path: "a.txt", content: "x" }, fields));
    const text = readFileSync(join(session.root, ".nexus/state/tool-log.jsonl"), "utf8");
    expect(text).not.toContain("Write");
    const log = text.trim().split("\n");
    expect(log.map((line) => JSON.parse(line))).toMatchObject([
      {
        agent_id: "a1",
        agent_name: "tester",
        path: expect.stringContaining("a.txt"),
        ok: false,
        error: expect.stringMatching(/^denied: /),
      },
    ]);
  });
});

describe("gate: unplanned edits", () => {
  it("denies an edit while there is no task list, and allows it once there is", async () => {
    const { root } = newProject();
    const before = await askHook(use(root, "Write", { file_path: "a.txt", content: "x" }));
    expect(before.exit).toBe(0);
    expect(denial(before.stdout)).toContain("no task list");
    mkdirSync(join(root, ".nexus/state"), { recursive: true });
    writeFileSync(join(root, ".nexus/state/tasks.json"), TASKS);
    const after = await askHook(use(root, "Write", { file_path: "a.txt", content: "x" }));
    expect(after).toMatchObject({ exit: 0, stdout: "", stderr: "" });
  });

  it.each([
    ["Edit", { file_path: "src/a.ts", old_string: "a", new_string: "b" }],
    ["MultiEdit", { file_path: "src/a.ts", edits: [{ old_string: "a", new_string: "b" }] }],
    ["NotebookEdit", { notebook_path: "a.ipynb", new_source: "" }],
    ["Bash", { command: "echo x > a.txt" }],
    ["Bash", { command: "echo x > sub/../a.txt" }],
    ["Write", { file_path: "~/../PROJECT/a.txt", content: "" }],
  ])("denies %s %j", async (tool, input) => {
    const { root, home } = newProject();
    const own = JSON.parse(JSON.stringify(input).replace("PROJECT", "project"));
    const { stdout } = await askHook(use(root, tool, own), { home });
    expect(denial(stdout)).not.toBeNull();
  });

  it.each([
    ["Read", { file_path: "a.txt" }],
    ["Bash", { command: "npm test" }],
    ["Bash", { command: "git pull" }],
    ["Bash", { command: "echo x > /dev/null" }],
    ["Write", { file_path: ".nexus/memory/a.md", content: "x" }],
    ["Write", { file_path: "/somewhere/else/a.md", content: "x" }],
    ["mcp__nexus__nx_task_add", { title: "t" }],
    ["mcp__plugin_nutcracker_nexus__nx_plan_start", {}],
    ["mcp__other__thing", {}],
    ["Agent", { subagent_type: "engineer", prompt: "x" }],
  ])("allows Lead %s %j", async (tool, input) => {
    const { root } = newProject();
    expect(await askHook(use(root, tool, input))).toMatchObject({ exit: 0, stdout: "" });
  });

  it("sees through links and odd spellings", async () => {
    const { root } = newProject();
    symlinkSync(root, join(root, "../elsewhere"));
    mkdirSync(join(root, ".nexus"), { recursive: true });
    symlinkSync(root, join(root, ".nexus/memory"));
    for (const file_path of [
      "../elsewhere/a.txt",
      join(root, "../elsewhere/b"),
      ".nexus/memory/a.ts",
      ".nexus/memory/../../a.ts",
    ]) {
      const { stdout } = await askHook(use(root, "Write", { file_path, content: "" }));
      expect(denial(stdout), file_path).not.toBeNull();
    }
  });

  it.each(["CLAUDE.md", "AGENTS.md", "QWEN.md", "GEMINI.md"])(
    "lets only the marked part of %s change while nx-init is at work",
    async (file) => {
      const text = "# Mine\n\n<!-- nexus:start -->\nold\n<!-- nexus:end -->\n\nrest\n";
      const { root } = newProject({
        [file]: text,
        ".nexus/state/nutcracker-claude/session.json": '{"skill":"nx-init"}',
      });
      const edit = (old_string: string) => use(root, "Edit", { file_path: file, old_string, new_string: "new" });
      expect((await askHook(edit("old"))).stdout).toBe("");
      expect(denial((await askHook(edit("# Mine"))).stdout)).not.toBeNull();
      const whole = (content: string) => use(root, "Write", { file_path: file, content });
      expect((await askHook(whole(text.replace("old", "quite new")))).stdout).toBe("");
      expect(denial((await askHook(whole("all new"))).stdout)).not.toBeNull();
      rmSync(join(root, ".nexus/state/nutcracker-claude/session.json"));
      expect(denial((await askHook(edit("old"))).stdout)).not.toBeNull();
    },
  );
});

describe("gate: roles", () => {
  const as = (agent_type: string, agent_id = "agent-1") => ({ agent_type, agent_id });

  it.each([
    ["tester", "Write", { file_path: "a.txt", content: "x" }],
    ["nutcracker:tester", "Edit", { file_path: "a.txt", old_string: "a", new_string: "b" }],
    ["architect", "NotebookEdit", { notebook_path: "a.ipynb" }],
    ["reviewer", "Bash", { command: "sed -i s/a/b/ a.txt" }],
    ["reviewer", "Bash", { command: "git commit -am x" }],
    ["researcher", "mcp__files__write", { path: "a" }],
    ["researcher", "BrandNewTool", {}],
    ["engineer", "mcp__nexus__nx_task_add", {}],
    ["engineer", "mcp__nexus__nx_plan_start", {}],
    ["engineer", "mcp__nexus__nx_task_close", {}],
    ["architect", "mcp__nexus__nx_task_update", {}],
    ["engineer", "Agent", { subagent_type: "tester" }],
    ["engineer", "Write", { file_path: ".nexus/state/tasks.json", content: "{}" }],
    ["engineer", "Write", { file_path: ".NEXUS/State/tasks.json", content: "{}" }],
    ["engineer", "Edit", { file_path: ".claude/settings.json", old_string: "a", new_string: "b" }],
    ["engineer", "Write", { file_path: "~/.claude/settings.json", content: "{}" }],
    ["engineer", "Write", { file_path: ".codex/hooks.json", content: "{}" }],
    ["engineer", "Write", { file_path: "opencode.json", content: "{}" }],
    ["engineer", "Bash", { command: "echo {} > .nexus/state/tasks.json" }],
    ["engineer", "Bash", { command: "rm -rf .claude" }],
    ["engineer", "Bash", { command: "python3 -c \"open('.nexus/state/tasks.json','w')\"" }],
    ["engineer", "Bash", { command: "npx nexus call task_add '{}'" }],
    ["engineer", "Bash", { command: "claude -p 'edit it'" }],
    ["reviewer", "Bash", { command: "node /opt/nutcracker/dist/hook/hook.js claude SessionStart < made-up.json" }],
  ])("denies %s %s %j", async (role, tool, input) => {
    const { root, home } = planned();
    const { exit, stdout } = await askHook(use(root, tool, input, as(role)), { home });
    expect(exit).toBe(0);
    expect(denial(stdout)).not.toBeNull();
  });

  it.each([
    ["engineer", "Write", { file_path: "a.txt", content: "x" }],
    ["engineer", "Bash", { command: "npm install" }],
    ["engineer", "mcp__nexus__nx_task_update", {}],
    ["tester", "Read", { file_path: "a" }],
    ["tester", "Bash", { command: "npm test" }],
    ["tester", "Bash", { command: "npm test > /dev/null 2>&1" }],
    ["tester", "mcp__nexus__nx_artifact_write", {}],
    ["architect", "mcp__nexus__nx_task_list", {}],
    ["general-purpose", "Write", { file_path: "a.txt", content: "x" }],
  ])("allows %s %s %j", async (role, tool, input) => {
    const { root, home } = planned();
    expect(await askHook(use(root, tool, input, as(role)), { home })).toMatchObject({ exit: 0, stdout: "" });
  });

  it.each([
    ["xargs 60,000 times", "xargs ".repeat(60_000)],
    ["find -exec 30 times", "find . -exec ".repeat(30)],
    ["blanks after open", `python3 -c 'open${" ".repeat(50_000)}'; rm a`],
    ["an endless brace list", `rm {${",".repeat(60_000)}`],
    ["a megabyte of words", "a ".repeat(500_000)],
    ["a megabyte of nested finds", "find . -exec ".repeat(80_000)],
    ["a megabyte of substitutions", "$(".repeat(500_000)],
  ])("denies in time what was made to keep it busy: %s", async (_, command) => {
    const { root, home } = planned();
    const { exit, stdout } = await askHook(use(root, "Bash", { command }, as("reviewer")), { home });
    expect(exit).toBe(0);
    expect(denial(stdout)).toContain("may not change files");
  });

  it("believes its own record more than a claim, and knows nobody who was never announced", async () => {
    const tracker = JSON.stringify([
      { harness_id: "nutcracker-claude", agent_id: "a1", agent_name: "tester", started_at: "2026-01-01T00:00:00Z" },
    ]);
    const { root } = newProject({
      ".nexus/state/tasks.json": TASKS,
      ".nexus/state/nutcracker-claude/agent-tracker.json": tracker,
    });
    const write = (who: object) => askHook(use(root, "Write", { file_path: "a", content: "" }, who));
    expect(denial((await write({ agent_id: "a1", agent_type: "engineer" })).stdout)).toContain("tester");
    expect(denial((await write({ agent_id: "a1" })).stdout)).toContain("tester");
    expect(denial((await write({ agent_id: "stranger" })).stdout)).toContain("never announced");
    expect(denial((await write({ agent_id: "__proto__" })).stdout)).toContain("never announced");
    expect((await askHook(use(root, "Read", { file_path: "a" }, { agent_id: "stranger" }))).stdout).toBe("");
  });

  it("holds a process started in a role to it", async () => {
    const { root } = planned();
    const { stdout } = await askHook(use(root, "Write", { file_path: "a", content: "" }), {
      env: { NEXUS_ROLE: "reviewer" },
    });
    expect(denial(stdout)).toContain("reviewer");
  });

  it("adds what the project's configuration denies, and denies all when it cannot be read", async () => {
    const { root } = newProject({
      ".nexus/state/tasks.json": TASKS,
      ".nexus/config.yml": "capabilities:\n  engineer: [no_shell_exec]\n",
    });
    const bash = () => askHook(use(root, "Bash", { command: "ls" }, as("engineer")));
    expect(denial((await bash()).stdout)).toContain("may not run commands");
    writeFileSync(join(root, ".nexus/config.yml"), "capabilities: [");
    expect(await bash()).toMatchObject({ exit: 2, stdout: "" });
  });
});

describe("gate: what cannot be decided is denied with exit 2", () => {
  const cases: [string, string | Uint8Array, HookOptions?][] = [
    ["empty", ""],
    ["not JSON", "hello"],
    ["truncated", '{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Wri'],
    ["a list", "[]"],
    ["null", "null"],
    ["a number", "7"],
    ["no event name", '{"session_id":"s"}'],
    ["event name of a wrong type", '{"session_id":"s","hook_event_name":7}'],
    ["no tool name", '{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse"}'],
    ["tool name of a wrong type", '{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":{}}'],
    ["no cwd", '{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write"}'],
    [
      "agent id of a wrong type",
      '{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Read","agent_id":5}',
    ],
    [
      "invalid UTF-8",
      Buffer.concat([
        Buffer.from('{"hook_event_name":"PreToolUse","tool_name":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}'),
      ]),
    ],
    [
      "deleted cwd",
      '{"session_id":"s","cwd":"/no/such/folder","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a"}}',
    ],
    ["more than 20 MB", `{"hook_event_name":"PreToolUse","x":"${"a".repeat(21 * 1024 * 1024)}"}`],
    ["unknown host", "{}", { host: "nobody" }],
    ["standard input never closed", '{"session_id":"s"', { keepOpen: true }],
  ];
  it.each(cases)("%s", async (_, payload, options) => {
    const result = await runHook(payload, { event: "PreToolUse", ...options });
    expect(result).toMatchObject({ exit: 2, stdout: "" });
    expect(result.stderr.split("\n").filter(Boolean)).toHaveLength(1);
  });

  it("needs no end of input once the payload is complete", async () => {
    const { root } = planned();
    const result = await runHook(use(root, "Read", { file_path: "a" }), { keepOpen: true });
    expect(result).toMatchObject({ exit: 0, stdout: "" });
  });

  it("denies an edit with unreadable state, wrong argument types or no path", async () => {
    const { root } = newProject({
      ".nexus/state/tasks.json": TASKS,
      ".nexus/state/nutcracker-claude/agent-tracker.json": "{broken",
    });
    const who = { agent_id: "a1", agent_type: "tester" };
    expect((await askHook(use(root, "Write", { file_path: "a" }, who))).exit).toBe(2);
    for (const input of [{}, { file_path: 5 }, { file_path: "" }, [], "x", null]) {
      expect(denial((await askHook(use(root, "Write", input as object))).stdout), JSON.stringify(input)).not.toBeNull();
    }
    expect(denial((await askHook(use(root, "Bash", { command: 5 }))).stdout)).not.toBeNull();
  });

  it("exits 0 with a word to the person for every other event", async () => {
    for (const event of ["SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStop", "SessionEnd"]) {
      const result = await askHook(`{"hook_event_name":"${event}"}`, { event });
      expect(result.exit, event).toBe(0);
      expect(JSON.parse(result.stdout).systemMessage).toContain("nexus:");
    }
  });
});
