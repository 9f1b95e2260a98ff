// Hosts that do not say which agent calls a tool: whoever is at work is held to its limits, and nobody for longer.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { answerHook } from "../../src/hook/answer-hook.js";
import { findHost } from "../../src/hosts/index.js";
import { newProject } from "./hook-process.js";

let root: string;
let home: string;
beforeEach(() => {
  ({ root, home } = newProject({ ".nexus/state/tasks.json": '{"goal":"","decisions":[],"tasks":[]}' }));
  mkdirSync(join(home, "tmp"), { recursive: true });
});

const around = () => ({ env: { HOME: home, PATH: process.env.PATH, NEXUS_SANDBOX: "off" }, now: () => new Date() });

async function send(name: string, event: string, fields: object = {}) {
  const payload = { session_id: "s", cwd: root, hook_event_name: event, ...fields };
  const { stdout, stderr, exit } = await answerHook(findHost(name)!, Buffer.from(JSON.stringify(payload)), around());
  return { exit, stderr, said: stdout === "" ? {} : JSON.parse(stdout) };
}

const SHELL = "run_shell_command";
const qwen = {
  tool: (tool_name: string, tool_input: object = {}) => send("qwen", "PreToolUse", { tool_name, tool_input }),
  start: (agent_type: string, id = agent_type) => send("qwen", "SubagentStart", { agent_id: id, agent_type }),
  stop: (agent_type: string, id = agent_type) => send("qwen", "SubagentStop", { agent_id: id, agent_type }),
};
const reason = ({ said }: { said: { hookSpecificOutput?: { permissionDecisionReason?: string } } }) =>
  said.hookSpecificOutput?.permissionDecisionReason ?? "allowed";

describe("Qwen Code", () => {
  const write = () => qwen.tool("write_file", { file_path: join(root, "a.txt"), content: "x" });

  it("begins a session with the first message, once, and takes no answer of a tool for a message", async () => {
    const first = await send("qwen", "UserPromptSubmit", { prompt: "hello" });
    expect(JSON.stringify(first.said)).toContain("edited only while a task list exists");
    expect(JSON.stringify((await send("qwen", "UserPromptSubmit", { prompt: "again" })).said)).not.toContain(
      "edited only while a task list exists",
    );
    expect((await send("qwen", "UserPromptSubmit", { prompt: "" })).said).toEqual({});
  });

  it("hears of a skill a person starts, which comes as its text, and of what they wrote with it", async () => {
    const memory = "# Mine\n\n<!-- nexus:start -->\nold\n<!-- nexus:end -->\n";
    const change = (content: string) => qwen.tool("write_file", { file_path: join(root, "QWEN.md"), content });
    writeFileSync(join(root, "QWEN.md"), memory);
    rmSync(join(root, ".nexus/state/tasks.json"));
    expect(reason(await change(memory.replace("old", "new")))).toContain("no task list");
    await send("qwen", "UserPromptSubmit", {
      prompt: "# nx-setup: set up\n\nNever [m] this.\n\n/nx-setup [m] tabs are wide",
    });
    expect(reason(await change(memory.replace("old", "new")))).toBe("allowed");
    expect(reason(await change(memory.replace("Mine", "Yours")))).toContain("no task list");
    const kept = readdirSync(join(root, ".nexus/memory")).filter((name) => name.endsWith(".md"));
    expect(kept.map((name) => readFileSync(join(root, ".nexus/memory", name), "utf8")).join()).toMatch(/tabs are wide/);
    expect(kept).toHaveLength(1);
  });

  it("holds every call to the limits of whoever is at work, until it has ended", async () => {
    await send("qwen", "UserPromptSubmit", { prompt: "hello" });
    expect(reason(await write())).toBe("allowed");
    await qwen.start("tester");
    expect(reason(await write())).toMatch(/the tester role may not change files.*nobody says here who calls/);
    expect(reason(await qwen.tool(SHELL, { command: "echo x > a.txt" }))).toContain("the tester role");
    expect(reason(await qwen.tool(SHELL, { command: "cat a.txt" }))).toBe("allowed");
    expect(reason(await qwen.tool("mcp__nexus__nx_plan_decide"))).toContain("only Lead");
    expect(reason(await qwen.tool("agent", { subagent_type: "engineer" }))).toContain("may not start agents");
    await qwen.stop("tester");
    expect(reason(await write())).toBe("allowed");
    await qwen.start("engineer");
    expect(reason(await write())).toBe("allowed");
    expect(reason(await qwen.tool("mcp__nexus__nx_plan_decide"))).toContain("only Lead");
  });

  it.each([
    ["engineer", "reviewer"],
    ["reviewer", "engineer"],
  ])("holds two agents at once to the limits of both: %s, then %s", async (...both) => {
    await send("qwen", "UserPromptSubmit", { prompt: "hello" });
    for (const role of both) await qwen.start(role);
    expect(reason(await write())).toMatch(/may not change files/);
    await qwen.stop("reviewer");
    expect(reason(await write())).toBe("allowed");
  });

  it("takes agents for ended when the person writes again, and starts none that nobody waits for", async () => {
    await send("qwen", "UserPromptSubmit", { prompt: "hello" });
    await qwen.start("tester");
    await send("qwen", "UserPromptSubmit", { prompt: "" });
    expect(reason(await write())).toContain("the tester role");
    await send("qwen", "UserPromptSubmit", { prompt: "I stopped it" });
    expect(reason(await write())).toBe("allowed");
    const background = { subagent_type: "tester", run_in_background: true };
    expect(reason(await qwen.tool("agent", background))).toContain("agents are waited for here");
    expect(reason(await qwen.tool("agent", { subagent_type: "tester" }))).toBe("allowed");
  });

  it("cannot put a command into a sandbox, so a role that may not edit is held by reading it and by its tree", async () => {
    await send("qwen", "UserPromptSubmit", { prompt: "hello" });
    await qwen.start("tester");
    const { said } = await qwen.tool(SHELL, { command: "ls" });
    expect(said).toEqual({});
  });
});

describe("Gemini CLI", () => {
  const tool = (tool_name: string, tool_input: object = {}) => send("gemini", "BeforeTool", { tool_name, tool_input });
  const done = (tool_name: string, tool_input: object, text = "") =>
    send("gemini", "AfterTool", { tool_name, tool_input, tool_response: { llmContent: [{ text }] } });
  const write = () => tool("write_file", { file_path: join(root, "a.txt"), content: "x" });
  const tester = { agent_name: "tester", prompt: "TASK: look" };

  it("says no in its own words", async () => {
    await send("gemini", "SessionStart", { source: "startup" });
    expect(await tool("mcp_nexus_nx_nonsense")).toMatchObject({ exit: 0 });
    await tool("invoke_agent", tester);
    expect((await write()).said).toMatchObject({ decision: "deny", reason: expect.stringContaining("tester role") });
    expect((await write()).said).not.toHaveProperty("hookSpecificOutput");
  });

  it("takes the call that starts an agent for its beginning and its end, and hands the task over with the prompt", async () => {
    await send("gemini", "SessionStart", { source: "startup" });
    const { said } = await tool("invoke_agent", tester);
    const told = said.hookSpecificOutput?.tool_input ?? tester;
    expect(told).toMatchObject({ agent_name: "tester", prompt: expect.stringMatching(/^TASK: look/) });
    expect((await write()).said.decision).toBe("deny");
    await done("invoke_agent", told, "Subagent 'tester' finished.\nTermination Reason: GOAL\nResult:\nit fails");
    expect((await write()).said).toEqual({});
  });

  it("starts nothing that was denied", async () => {
    await send("gemini", "SessionStart", { source: "startup" });
    await tool("invoke_agent", { agent_name: "engineer", prompt: "TASK: x" });
    expect((await tool("invoke_agent", tester)).said.decision).toBe("deny");
    await done("invoke_agent", { agent_name: "engineer", prompt: "TASK: x" });
    expect((await write()).said).toEqual({});
  });

  it("reads tags of the person, not of what hooks said before", async () => {
    const prompt = "<hook_context>[rule] never</hook_context>\n\n[rule] always";
    await send("gemini", "BeforeAgent", { prompt });
    expect(existsSync(join(root, ".nexus/rules"))).toBe(true);
    const { readdirSync, readFileSync } = await import("node:fs");
    const kept = readdirSync(join(root, ".nexus/rules")).map((name) =>
      readFileSync(join(root, ".nexus/rules", name), "utf8"),
    );
    expect(kept.join()).toContain("always");
    expect(kept.join()).not.toContain("never");
  });
});
