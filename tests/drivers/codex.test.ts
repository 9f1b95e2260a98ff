import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { McpServer } from "../../src/drivers/index.js";
import { bwrapAvailable } from "../../src/process/index.js";
import { type Reply, type ScriptedModel, scriptedModel } from "../hosts/scripted-model/server.js";
import { pathWith } from "./clients.js";
import { type Desk, desk } from "./desk.js";
import { type Step, sequence } from "./sequence.js";

const held = await bwrapAvailable(process.env);
const PATH = pathWith("codex");

let at: Desk;
let model: ScriptedModel;
afterEach(async () => {
  at.remove();
  await model.close();
});

const settings = (url: string) => ({
  "person/.codex/config.toml": [
    'model = "scripted"',
    'model_provider = "s"',
    'notify = ["touch", "/tmp/obeyed"]',
    "analytics = { enabled = false }",
    "[model_providers.s]",
    'name = "s"',
    `base_url = "${url}/v1"`,
    'wire_api = "responses"',
    "request_max_retries = 0",
    "stream_max_retries = 0",
    "supports_websockets = false",
  ].join("\n"),
});

async function open(...replies: readonly Step[]): Promise<void> {
  model = await scriptedModel(sequence(...replies));
  at = desk({ PATH: PATH! });
  at.put(settings(model.url));
}

const echo = (): McpServer => ({
  name: "echo",
  command: process.execPath,
  args: [fileURLToPath(new URL("echo-server.mjs", import.meta.url))],
  env: { ECHO_FILE: join(at.home, "echo.txt") },
});

const shell = (cmd: string): Reply => ({ unoffered: "exec_command", args: { cmd } });
const offered = () => model.requests.at(-1)!.tools.map(({ name }) => name);

/** Every tool by which any model starts an agent or has one go on, under every name it goes by. */
const AGENT_CALLS: readonly Reply[] = Object.entries({
  collaboration: ["spawn_agent", "followup_task", "send_message", "interrupt_agent", "list_agents", "wait_agent"],
  multi_agent_v1: ["spawn_agent", "send_input", "resume_agent", "close_agent", "wait_agent"],
  functions: ["spawn_agent", "create_goal"],
}).flatMap(([namespace, names]) =>
  names.map((unoffered) => ({
    unoffered,
    namespace,
    args: { task_name: "x", target: "x", id: "x", message: "CHILD GO", fork_turns: "none", objective: "x" },
  })),
);

describe.skipIf(PATH === null)("codex (needs the real program)", () => {
  it("plays a role: tools, files, usage, report", async () => {
    const patch = "apply_patch <<'E'\n*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\nE";
    await open({ tool: /^mcp__echo\/echo$/, args: { text: "hi" } }, shell(patch), "all done");
    const end = await at.run("codex", {
      mcpServers: [echo()],
      deniedTools: ["echo.forbidden"],
      extraEnv: { NEXUS_TASK_ID: "3" },
    });
    expect(end).toMatchObject({
      outcome: "completed",
      text: "all done",
      usage: { inputTokens: 300, outputTokens: 30 },
    });
    expect(model.requests[0]!.any).toContain("You are the engineer.");
    expect(model.requests[0]!.any).toContain("Do the task.");
    expect(offered()).toContain("mcp__echo/echo");
    expect(offered().filter((name) => /forbidden|spawn_agent/.test(name))).toEqual([]);
    expect(readFileSync(join(at.home, "echo.txt"), "utf8")).toBe("echo hi\n");
    expect(readFileSync(join(at.cwd, "made.txt"), "utf8")).toBe("made\n");
    expect(at.of("session")).toEqual([{ type: "session", id: end.sessionId }]);
    expect(at.of("tool_call").map(({ tool, status }) => `${tool} ${status}`)).toContain("echo.echo finished");
    expect(at.of("file")).toEqual([{ type: "file", path: join(at.cwd, "made.txt"), change: "created" }]);
    // The session's own settings are gone with it; the person's notification program was never asked.
    expect(
      readdirSync(join(at.home, ".codex")).filter((name) => name.startsWith("session-") && name.endsWith(".toml")),
    ).toEqual([]);
    const settings = readFileSync(join(at.home, ".codex/config.toml"), "utf8");
    expect(settings).not.toContain("notify");
    // What is told to the vendor stays the person's choice.
    expect(settings).toMatch(/analytics.*enabled = false/s);
  });

  it.each(["gpt-6.1-sol", "gpt-5.6-luna", "gpt-5.5"])(
    "cannot start agents of its own, whatever it tries: %s",
    async (slug) => {
      const listed = "text(ALL_TOOLS.map((tool) => tool.name).join(' '))";
      const look: Reply = slug === "gpt-5.5" ? shell("true") : { tool: /^functions\/exec$/, args: listed };
      model = await scriptedModel([
        { name: "child", when: { last: /CHILD GO/ }, reply: ["I was started."] },
        { name: "look", times: 1, reply: [look] },
        { name: "try", times: 1, reply: AGENT_CALLS },
        { name: "end", reply: ["done"] },
      ]);
      at = desk({ PATH: PATH! });
      at.put(settings(model.url));
      expect(await at.run("codex", { model: slug })).toMatchObject({ outcome: "completed", text: "done" });
      const [first, looked, tried] = model.requests;
      expect(model.used()).toEqual(["look", "try", "end"]);
      expect(looked!.last).not.toMatch(/spawn_agent|create_goal/);
      expect(offered().filter((name) => /agent|goal|followup|send_message/.test(name))).toEqual([]);
      expect(tried!.last.match(/unsupported call/g)).toHaveLength(AGENT_CALLS.length);
      // Nor is it told of agents it does not have.
      expect(first!.any).not.toMatch(/spawn_agent|wait_agent|sub-agent/);
    },
  );

  it("has no shell and cannot edit in a role that may not", async () => {
    await open(shell("echo x > made.txt"), "could not");
    const end = await at.run("codex", { may: { edit: false, shell: false } });
    expect(end).toMatchObject({ outcome: "completed", text: "could not" });
    expect(offered().filter((name) => /exec_command|shell|apply_patch/.test(name))).toEqual([]);
    expect(readdirSync(at.cwd)).toEqual([]);
  });

  it.skipIf(!held)("may run commands and still change nothing (needs bwrap)", async () => {
    await open(shell("echo x > made.txt; echo seen; sh -c 'echo y > $HOME/../work/z'"), "looked");
    const end = await at.run("codex", { may: { edit: false, shell: true } });
    expect(end).toMatchObject({ outcome: "completed", text: "looked" });
    expect(model.requests.at(-1)!.any).toContain("seen");
    expect(readdirSync(at.cwd)).toEqual([]);
  });

  it("continues a session after kill -9, with its limits sent again", async () => {
    await open("first", { fail: "hang" }, "second");
    const first = await at.run("codex", { may: { edit: false, shell: false } });
    const resume = first.sessionId!;
    const hanging = await at.start("codex", { resume, taskPrompt: "hang", may: { edit: false, shell: false } });
    while (model.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(hanging.pid, "SIGKILL");
    expect(await hanging.ended).toMatchObject({ outcome: "failed" });
    const again = await at.run("codex", { resume, taskPrompt: "go on", may: { edit: false, shell: false } });
    expect(again).toMatchObject({ outcome: "completed", text: "second", sessionId: resume });
    // It counts from the session's beginning; the run takes off what it knows already.
    expect([first.usage?.inputTokens, again.usage?.inputTokens]).toEqual([100, 200]);
    const asked = model.requests.at(-1)!.any;
    expect(["Do the task.", "first", "go on"].map((part) => asked.includes(part))).toEqual([true, true, true]);
    expect(offered().filter((name) => /exec_command|shell/.test(name))).toEqual([]);
  });

  it("stops when cancelled, and says when the model refuses", async () => {
    await open({ fail: "hang" }, { fail: "no such model" });
    const session = await at.start("codex");
    while (model.requests.length < 1) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await session.cancel()).toMatchObject({ outcome: "cancelled", text: "" });
    expect(await at.run("codex")).toMatchObject({ outcome: "failed", error: expect.stringContaining("no such model") });
  });

  it.skipIf(!held)("does not obey settings of the work tree (needs bwrap)", async () => {
    await open("done");
    at.put({ "work/.codex/config.toml": `notify = ["touch", "${at.cwd}/obeyed"]\n`, "work/AGENTS.md": "" });
    expect(await at.run("codex")).toMatchObject({ outcome: "completed" });
    expect(existsSync(join(at.cwd, "obeyed"))).toBe(false);
  });
});
