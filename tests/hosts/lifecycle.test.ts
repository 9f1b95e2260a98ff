// The events through the hook: what is on disk afterwards, and what the host is told.
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { loadFixtures } from "../../src/commands/nexus/conformance/fixtures.js";
import { judgeFiles } from "../../src/commands/nexus/conformance/judge.js";
import { askHook, claudePayload, type HookOptions, newProject, ROOT } from "./hook-process.js";

let root: string;
beforeEach(() => {
  ({ root } = newProject({ "a.txt": "hello\n" }));
});

const OWN = ".nexus/state/nutcracker-claude";
const path = (name: string) => join(root, name);
const json = (name: string) => JSON.parse(readFileSync(path(name), "utf8"));
const put = (name: string, value: unknown) => {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), typeof value === "string" ? value : JSON.stringify(value));
};
const fire = async (event: string, fields: object = {}, options: HookOptions = {}) => {
  const { exit, stdout, stderr } = await askHook(claudePayload(root, event, fields), { event, ...options });
  expect(exit, stderr).toBe(0);
  const output = stdout === "" ? {} : JSON.parse(stdout);
  return { context: output.hookSpecificOutput?.additionalContext ?? "", message: output.systemMessage ?? "" };
};
const begin = (session = "session-1", options: HookOptions = {}) =>
  fire("SessionStart", { source: "startup", session_id: session }, options);
const task = (fields: object = {}) => ({ id: 1, title: "do it", context: "c", status: "pending", deps: [], ...fields });
const tasks = (...list: object[]) => put(".nexus/state/tasks.json", { goal: "g", decisions: [], tasks: list });
const plan = {
  id: 4,
  topic: "speed",
  issues: [
    { id: 1, title: "how", status: "pending" },
    { id: 2, title: "when", status: "pending" },
  ],
};

describe("session_start and session_end", () => {
  it("makes the folders, the ignore file and an empty tracker, and takes away an old root tracker", async () => {
    put(".nexus/state/agent-tracker.json", []);
    const { context, message } = await begin();
    expect(json(`${OWN}/agent-tracker.json`)).toEqual([]);
    expect(readFileSync(path(".nexus/.gitignore"), "utf8")).toBe("state/\n");
    expect(existsSync(path(".nexus/state/agent-tracker.json"))).toBe(false);
    expect(context).toContain("works with Nexus");
    expect(message).toBe("");
  });

  it("warns of what a session left that did not close, and only then", async () => {
    tasks(task());
    expect((await begin()).message).toContain("tasks.json was left");
    // The host of the first session still lives (it is this very process), so a second one is company, not a successor.
    await fire("SubagentStart", { agent_id: "a1", agent_type: "engineer" });
    expect((await begin("session-2")).message).toBe("");
    expect(json(`${OWN}/agent-tracker.json`)).toHaveLength(1);
  });

  it("keeps the tracker on resume and clears it on a fresh start", async () => {
    await begin();
    await fire("SubagentStart", { agent_id: "a1", agent_type: "engineer" });
    await fire("SessionStart", { source: "resume" });
    expect(json(`${OWN}/agent-tracker.json`)).toHaveLength(1);
    await begin();
    expect(json(`${OWN}/agent-tracker.json`)).toEqual([]);
  });

  it("deletes session files with the last session and warns of unfinished work", async () => {
    await begin();
    await begin("session-2");
    tasks(task(), task({ id: 2, status: "completed" }));
    put(".nexus/state/plan.json", plan);
    await fire("PostToolUse", { tool_name: "Bash", tool_input: { command: "ls" }, tool_response: "" });
    expect(await fire("SessionEnd", { reason: "other" })).toEqual({ context: "", message: "" });
    expect(existsSync(path(`${OWN}/agent-tracker.json`))).toBe(true);
    const { message } = await fire("SessionEnd", { reason: "other", session_id: "session-2" });
    expect(message).toContain("1 unfinished task");
    expect(message).toContain("plan 4 is not archived");
    for (const file of [`${OWN}/agent-tracker.json`, `${OWN}/sessions.json`, ".nexus/state/tool-log.jsonl"])
      expect(existsSync(path(file)), file).toBe(false);
    for (const file of [".nexus/state/tasks.json", ".nexus/state/plan.json"])
      expect(existsSync(path(file)), file).toBe(true);
  });

  it("goes on with damaged state, says so, and changes not one byte of it", async () => {
    put(".nexus/state/tasks.json", '{"tasks": [');
    const { message, context } = await begin();
    expect(message).toContain("tasks.json cannot be read");
    expect(context).toContain("tasks.json cannot be read");
    expect(readFileSync(path(".nexus/state/tasks.json"), "utf8")).toBe('{"tasks": [');
  });
});

describe("user_message", () => {
  const say = (prompt: string, fields: object = {}) => fire("UserPromptSubmit", { prompt, ...fields });

  it("leaves an untagged message alone while there is nothing to tell, and tells status when there is", async () => {
    expect((await say("hello")).context).toBe("");
    tasks(task(), task({ id: 2, deps: [1] }));
    put(".nexus/state/plan.json", plan);
    put(".nexus/memory/a.md", "x");
    const { context } = await say("hello");
    expect(context).toContain('Plan 4 "speed": 0 of 2 issues decided');
    expect(context).toContain('ready: #1 "do it"');
    expect(context).toContain("1 in memory/");
  });

  it("injects skills, keeps the mode, and lets a later skill replace an earlier", async () => {
    const { context } = await say("[plan:auto] the cache");
    expect(context).toContain("Skill nx-plan is now active, mode: auto");
    expect(context).toContain("mcp__nexus__nx_plan_start");
    expect(json(`${OWN}/session.json`)).toMatchObject({ skill: "nx-plan", mode: "auto" });
    await say("[run]");
    expect(json(`${OWN}/session.json`)).toMatchObject({ skill: "nx-run", mode: null });
    await say("/nutcracker:nx-init");
    expect(json(`${OWN}/session.json`)).toMatchObject({ skill: "nx-init" });
  });

  it("decides, remembers and rules at once, and says what happened", async () => {
    expect((await say("[d] yes")).context).toContain("No active plan session");
    put(".nexus/state/plan.json", plan);
    expect((await say("[d] 2: on monday")).context).toContain('decided issue 2 "when": on monday');
    expect((await say("[d] with a cache")).context).toContain('decided issue 1 "how"');
    expect(json(".nexus/state/plan.json").issues).toMatchObject([
      { status: "decided", decision: "with a cache" },
      { status: "decided", decision: "on monday" },
    ]);
    const { context } = await say("[m] Always measure first. [rule:web-ui] no pop-ups [rule] be kind");
    const file = /\.nexus\/memory\/\S+\.md/.exec(context)![0];
    expect(readFileSync(path(file), "utf8")).toBe("Always measure first.\n");
    expect(readFileSync(path(".nexus/rules/web-ui.md"), "utf8")).toBe("- no pop-ups\n");
    expect(readFileSync(path(".nexus/rules/general.md"), "utf8")).toBe("- be kind\n");
    expect((await say("[m]")).context).toContain("without text");
  });

  it("counts what a message's tags stored and decided in the answer to that message", async () => {
    put(".nexus/state/plan.json", plan);
    const { context } = await say("[d] with a cache [m] Measure first. [rule:web] no pop-ups [rule] be kind");
    expect(context).toContain('Plan 4 "speed": 1 of 2 issues decided');
    expect(context).toContain("1 in memory/, 0 in context/, 2 in rules/");
    expect(context.match(/Knowledge files/g)).toHaveLength(1);
    expect((await say("[m] Measure first.")).context).toContain("1 in memory/");
  });

  it("merges repeated lessons and only names stale ones", async () => {
    put(".nexus/memory/a.md", "one\n");
    put(".nexus/memory/b.md", "one\n\ntwo\n");
    utimesSync(path(".nexus/memory/a.md"), new Date(0), new Date(0));
    const { context } = await say("[m:gc]");
    expect(context).toContain("merged 1 repeated lesson");
    expect(context).toContain("a.md");
    expect(readFileSync(path(".nexus/memory/b.md"), "utf8")).toBe("two\n");
  });

  it("routes no tags in the prompt Lead gives an agent, but learns the task from it", async () => {
    await begin();
    tasks(task());
    await fire("SubagentStart", { agent_id: "a1", agent_type: "engineer" });
    const { context } = await say("TASK: do it\n\n[rule] break things", { agent_id: "a1", agent_type: "engineer" });
    expect(context).toBe("");
    expect(existsSync(path(".nexus/rules"))).toBe(false);
    expect(json(`${OWN}/agent-tracker.extension.json`)).toEqual({ extends: "agent-tracker", tasks: { a1: 1 } });
  });
});

describe("agents", () => {
  const startAgent = (id: string, type: string) => fire("SubagentStart", { agent_id: id, agent_type: type });
  const stopAgent = (id: string, type: string, text = "done") =>
    fire("SubagentStop", { agent_id: id, agent_type: type, last_assistant_message: text, stop_hook_active: false });
  const edit = (file: string, who: object = {}) =>
    fire("PostToolUse", {
      tool_name: "Write",
      tool_input: { file_path: path(file), content: "" },
      tool_response: {},
      ...who,
    });

  it("records a start, tells the agent its task, its tools and how to report", async () => {
    await begin();
    tasks(task({ owner: "engineer", approach: "slowly", acceptance: "green" }));
    put(".nexus/context/map.md", "x");
    const { context } = await startAgent("a1", "nutcracker:engineer");
    for (const text of [
      "TASK: do it",
      "CONTEXT:\nc",
      "APPROACH:\nslowly",
      "ACCEPTANCE:\ngreen",
      "Report to Lead",
      ".nexus/context/map.md",
      "task_update = mcp__nexus__nx_task_update",
    ])
      expect(context).toContain(text);
    expect(json(`${OWN}/agent-tracker.json`)).toMatchObject([
      { harness_id: "nutcracker-claude", agent_name: "engineer", agent_id: "a1", status: "running", resume_count: 0 },
    ]);
  });

  it("records files, completes the task, and reminds Lead of acceptance nobody verified", async () => {
    await begin();
    tasks(task({ owner: "engineer" }), task({ id: 2, owner: "writer", acceptance: "readable" }));
    await startAgent("a1", "engineer");
    await startAgent("a2", "writer");
    await edit("src/x.ts", { agent_id: "a1", agent_type: "engineer" });
    await edit("src/y.ts");
    await stopAgent("a1", "engineer");
    const { message } = await stopAgent("a2", "writer");
    expect(message).toContain("task #2 has acceptance that nobody verified");
    expect(json(`${OWN}/agent-tracker.json`)).toMatchObject([
      { status: "completed", last_message: "done", files_touched: ["src/x.ts"] },
      { status: "completed", files_touched: [] },
    ]);
    expect(json(".nexus/state/tasks.json").tasks).toMatchObject([
      { id: 1, status: "completed" },
      { id: 2, status: "in_progress" },
    ]);
    expect(json(".nexus/state/edit-tracker.json").files["src/y.ts"]).toMatchObject([{ agent_id: "lead" }]);
    expect((await edit("z")).context).toContain("task #2 has acceptance");
    expect((await edit("z")).context).toBe("");
  });

  it("resumes an agent it knows and has it read its files again", async () => {
    await begin();
    await startAgent("a1", "engineer");
    await edit("x.ts", { agent_id: "a1", agent_type: "engineer" });
    await stopAgent("a1", "engineer");
    const { context } = await startAgent("a1", "engineer");
    expect(context).toContain("Read these files again before going on: x.ts");
    expect(json(`${OWN}/agent-tracker.json`)).toMatchObject([{ status: "running", resume_count: 1 }]);
  });

  it("takes up an agent that goes on without being announced, once, before anything of it runs", async () => {
    const codex = { host: "codex", env: { NEXUS_SANDBOX: "off" } };
    const tester = { agent_id: "a1", agent_type: "tester" };
    const look = { ...tester, tool_name: "Bash", tool_input: { command: "cat a.txt" } };
    await fire("SessionStart", { source: "startup" }, codex);
    await fire("SubagentStart", tester, codex);
    await fire("SubagentStop", { ...tester, last_assistant_message: "done" }, codex);
    const asked = await Promise.all([1, 2, 3].map(() => askHook(claudePayload(root, "PreToolUse", look), codex)));
    expect(asked.map(({ exit, stderr }) => [exit, stderr])).toEqual([1, 2, 3].map(() => [0, ""]));
    put("a.txt", "changed");
    const tracked = json(".nexus/state/nutcracker-codex/agent-tracker.json");
    expect(tracked).toMatchObject([{ agent_id: "a1", status: "running", resume_count: 1 }]);
    await fire("SubagentStop", { ...tester, last_assistant_message: "done" }, codex);
    expect(readFileSync(path("a.txt"), "utf8")).toBe("hello\n");
    // Nobody who was never announced, and nobody of another session.
    for (const other of [{ agent_id: "a2" }, { session_id: "another" }]) {
      const { stdout } = await askHook(claudePayload(root, "PreToolUse", { ...look, ...other }), codex);
      expect(stdout).toContain("its start was not recorded");
    }
  });

  it("puts back what a role left changed, keeps a copy, and blames nobody else", async () => {
    await begin("session-1", { env: { NEXUS_SANDBOX: "off" } });
    put("sub/keep.txt", "keep");
    put(".env", "SECRET=1");
    await startAgent("a1", "tester");
    put("a.txt", "changed");
    put("new/deep.txt", "new");
    put(".env", "SECRET=2");
    rmSync(path("sub"), { recursive: true });
    put("lead.txt", "by Lead");
    await edit("lead.txt");
    const { message } = await stopAgent("a1", "tester");
    expect(message).toContain("put back");
    expect(readFileSync(path("a.txt"), "utf8")).toBe("hello\n");
    expect(readFileSync(path("sub/keep.txt"), "utf8")).toBe("keep");
    expect(readFileSync(path(".env"), "utf8")).toBe("SECRET=1");
    expect(existsSync(path("new"))).toBe(false);
    expect(readFileSync(path("lead.txt"), "utf8")).toBe("by Lead");
    expect(readFileSync(path(`${OWN}/reverted/a1/new/deep.txt`), "utf8")).toBe("new");
  });

  it("only reports while others are at work, whose changes they might be", async () => {
    await begin();
    await startAgent("a1", "tester");
    await startAgent("a2", "engineer");
    put("a.txt", "changed");
    const { message } = await stopAgent("a1", "tester");
    expect(message).toContain("a.txt");
    expect(readFileSync(path("a.txt"), "utf8")).toBe("changed");
  });

  it("ignores the end of an agent that never began", async () => {
    await begin();
    expect(await stopAgent("ghost", "tester")).toEqual({ context: "", message: "" });
  });
});

describe("post_tool_use and context_compact", () => {
  it("logs in abstract words, failures too, and keeps the host's names to itself", async () => {
    await fire("PostToolUse", { tool_name: "Write", tool_input: { file_path: path("a.txt") }, tool_response: {} });
    await fire("PostToolUseFailure", { tool_name: "Bash", tool_input: { command: "x" }, error: "it broke" });
    const lines = readFileSync(path(".nexus/state/tool-log.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { tool: "file_creation", path: "a.txt", ok: true },
      { tool: "shell_command_exec", ok: false, error: "it broke" },
    ]);
    expect(readFileSync(path(`${OWN}/tool-log.extension.jsonl`), "utf8")).toContain('"tool":"Write"');
  });

  it("rebuilds the snapshot from disk after a compaction", async () => {
    await begin();
    tasks(task(), task({ id: 2, title: "later", deps: [1] }));
    put(".nexus/state/plan.json", plan);
    put(".nexus/rules/general.md", "x");
    await fire("UserPromptSubmit", { prompt: "[plan:auto] go" });
    await fire("SubagentStart", { agent_id: "a1", agent_type: "architect" });
    const { context } = await fire("SessionStart", { source: "compact" });
    for (const text of [
      "Active skill: nx-plan, mode auto",
      '#1 pending "how"',
      '#1 pending "do it" (ready)',
      '#2 pending "later"',
      ".nexus/rules/general.md",
      "architect a1",
    ])
      expect(context).toContain(text);
    expect(context.length).toBeLessThan(10_000);
    expect(await fire("PreCompact", { trigger: "auto" })).toEqual({ context: "", message: "" });
  });

  it("stays below what hosts cut, and says how to get the rest", async () => {
    tasks(
      ...Array.from({ length: 500 }, (_, i) =>
        task({ id: i + 1, title: `a task with a long title ${"x".repeat(200)}` }),
      ),
    );
    const { context } = await fire("SessionStart", { source: "compact" });
    expect(context.length).toBeLessThan(10_000);
    expect(context).toContain("and 460 more");
  });
});

describe("lifecycle fixtures against the real hook process", () => {
  const shared = join(ROOT, "../shared/data/nexus-conformance/lifecycle");
  const own = ["core/conformance/lifecycle", "tests/state/foreign-suite/lifecycle"].map((name) => join(ROOT, name));
  const folders = [...own, ...(existsSync(shared) ? [shared] : [])];
  const fixtures = folders
    .flatMap((folder) => loadFixtures(folder))
    .map(({ fixture }) => [fixture.test_id, JSON.stringify(fixture)]);

  it.each(fixtures)("%s", async (_, text) => {
    const harness = JSON.parse(text).event.params.harness_id ?? /"harness_id":"([^"]+)"/.exec(text)?.[1];
    const own = text
      .replaceAll("{STATE_ROOT}", ".nexus/state")
      .replaceAll("{HARNESS_ID}", "nutcracker-claude")
      .replaceAll(`"${harness}"`, '"nutcracker-claude"');
    const { precondition, event, postcondition } = JSON.parse(own);
    for (const [file, value] of Object.entries(precondition?.state_files ?? {})) if (value !== null) put(file, value);
    const { agent_id, agent_name, last_message, files_touched = [] } = event.params;
    const tracked = (existsSync(path(`${OWN}/agent-tracker.json`)) ? json(`${OWN}/agent-tracker.json`) : []) as {
      agent_id: string;
      agent_name: string;
    }[];
    const agent_type = agent_name ?? tracked.find((agent) => agent.agent_id === agent_id)?.agent_name;
    for (const file of files_touched)
      await fire("PostToolUse", {
        tool_name: "Write",
        tool_input: { file_path: file },
        tool_response: {},
        agent_id,
        agent_type,
      });
    if (event.type === "agent_complete")
      await fire("SubagentStop", { agent_id, agent_type, last_assistant_message: last_message });
    else await fire("SubagentStart", { agent_id, agent_type });
    expect(judgeFiles(root, postcondition.state_files)).toEqual([]);
  });
});
