// OpenCode's plugin without OpenCode: its hooks called as OpenCode calls them, a hook process that writes down what it gets.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nexusPlugin } from "../../src/hook/opencode-plugin.js";
import { lookoutOf, writeAgent, writeGateCache } from "../../src/session/lookout.js";
import { newProject } from "./hook-process.js";

let root: string;
let warnings: string[];
const emitter: NodeJS.EventEmitter = process;
let before: unknown[];
let plugin: Awaited<ReturnType<ReturnType<typeof nexusPlugin>>>;

/** Answers every note with its name as context, and keeps the notes. */
const RECORDER = `
const { appendFileSync } = require("node:fs");
let text = "";
process.stdin.on("data", (data) => { text += data; });
process.stdin.on("end", () => {
  const note = JSON.parse(text);
  appendFileSync(note.directory + "/notes", text + "\\n");
  if (process.env.SILENT) return;
  if (note.sessionID === "broken") { process.stderr.write("it broke"); process.exit(2); }
  console.log(JSON.stringify({ context: [note.hook], warnings: note.sessionID === "warned" ? ["mind this"] : [], deny: null, rewrite: null }));
});`;

beforeEach(async () => {
  ({ root } = newProject({ ".nexus/state/tasks.json": '{"goal":"","decisions":[],"tasks":[]}' }));
  process.env.XDG_STATE_HOME = join(root, "../state");
  const hook = join(root, "recorder.cjs");
  writeFileSync(hook, RECORDER);
  warnings = [];
  before = emitter.listeners("exit");
  const log = async ({ body }: { body?: { message: string } }) => void warnings.push(body!.message);
  plugin = await nexusPlugin({ node: process.execPath, hook })({ directory: root, client: { app: { log } } });
});
// The plugin tells the harness when the process ends; the process of a test has nothing to tell.
afterEach(() => {
  delete process.env.XDG_STATE_HOME;
  for (const listener of emitter.listeners("exit"))
    if (!before.includes(listener)) emitter.off("exit", listener as () => void);
});

const notes = () =>
  readFileSync(join(root, "notes"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
const created = (id: string, parentID?: string) =>
  plugin.event({ event: { type: "session.created", properties: { info: { id, parentID } } } });
const use = (tool: string, args: Record<string, unknown>, sessionID = "top") =>
  plugin["tool.execute.before"]({ tool, sessionID }, { args });
const say = async (sessionID: string, agent?: string) => {
  const output = { message: { id: "m", agent }, parts: [{ type: "text", text: "hi" }] };
  await plugin["chat.message"]({ sessionID }, output as never);
  return output.parts as Record<string, unknown>[];
};
/** A session that the `task` tool starts. */
async function child(agent: string, id: string): Promise<void> {
  await use("task", { subagent_type: agent, prompt: "TASK: x" });
  await created(id, "top");
}

describe("the gate in OpenCode's own process", () => {
  it("throws to block, and lets the rest pass", async () => {
    await created("top");
    await child("tester", "kid");
    await expect(use("write", { filePath: "a", content: "x" }, "kid")).rejects.toThrow("nexus: the tester role");
    await expect(use("read", { filePath: "a" }, "kid")).resolves.toBeUndefined();
    await expect(use("write", { filePath: "a", content: "x" })).resolves.toBeUndefined();
  });

  it.each([undefined, "", 7])("blocks a tool called %j", async (tool) => {
    await expect(plugin["tool.execute.before"]({ tool, sessionID: "top" }, { args: {} })).rejects.toThrow();
  });

  it("blocks when it cannot decide", async () => {
    const own = join(root, ".nexus/state/nutcracker-opencode");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "agent-tracker.json"), "{broken");
    await created("top");
    await child("tester", "kid");
    await expect(use("write", { filePath: "a" }, "kid")).rejects.toThrow();
  });

  it("knows no agent whose start it did not see", async () => {
    await created("top");
    await created("kid", "top");
    await expect(use("write", { filePath: "a" }, "kid")).rejects.toThrow("never announced");
  });

  it("takes a session in a role for that role, and OpenCode's own agents for Lead", async () => {
    await created("top");
    await say("top", "reviewer");
    await expect(use("write", { filePath: "a" })).rejects.toThrow("reviewer");
    await say("top", "build");
    await expect(use("write", { filePath: "a" })).resolves.toBeUndefined();
  });

  it("rewrites the command in place", async () => {
    const lookout = lookoutOf(root, "nutcracker-opencode", process.env)!;
    writeGateCache(lookout, { config: null, additions: {}, sandbox: ["held", "-c"] });
    await created("top");
    await child("tester", "kid");
    writeAgent(lookout, { agentId: "kid", agentName: "tester", startedAt: "", watched: [] }, { held: true });
    const args = { command: "ls" };
    await plugin["tool.execute.before"]({ tool: "bash", sessionID: "kid" }, { args });
    expect(args.command).toBe("held -c ls");
  });
});

describe("what the plugin tells the harness", () => {
  it("is who began, was started by what, and said what, in order", async () => {
    await created("top");
    await child("tester", "kid");
    await created("kid", "top");
    await say("kid");
    await plugin["tool.execute.after"]({ tool: "task", sessionID: "top", args: {} }, { output: "x" });
    expect(notes()).toMatchObject([
      { hook: "session.created", sessionID: "top" },
      { hook: "session.created", sessionID: "kid", spawn: { agentName: "tester", prompt: "TASK: x" } },
      { hook: "chat.message", sessionID: "kid", caller: { agentId: "kid", agentName: "tester" } },
      { hook: "tool.execute.after", sessionID: "top", output: { output: "x" } },
    ]);
    expect(notes()[0]).not.toHaveProperty("resumed");
    expect(notes()[0]).not.toHaveProperty("caller");
  });

  it("adds to a message what the harness has to say, once", async () => {
    await created("top");
    const [, part] = await say("top");
    expect(part).toMatchObject({ type: "text", text: "session.created\n\nchat.message", synthetic: true });
    expect((await say("top"))[1]!.text).toBe("chat.message");
    await say("older");
    expect(notes().at(-2)).toMatchObject({ hook: "session.created", sessionID: "older", resumed: true });
  });

  it("holds no whole files, but patches, which name theirs", async () => {
    await created("top");
    const args = { filePath: "a", content: "x".repeat(9_000), patchText: "+++ b/a\n".repeat(2_000) };
    const output = { output: "done", metadata: { sessionId: "s", diff: "long" } };
    await plugin["tool.execute.after"]({ tool: "write", sessionID: "top", args }, output);
    expect(output.output).toBe("done");
    await say("top");
    const note = notes().find(({ hook }) => hook === "tool.execute.after");
    expect(note.input).toEqual({ tool: "write", args: { filePath: "a", patchText: args.patchText } });
    expect(note.output).toEqual({ metadata: { sessionId: "s" } });
  });

  it("comes back into the context while it is compacted, and until the person speaks again", async () => {
    await created("top");
    const context: string[] = [];
    await plugin["experimental.session.compacting"]({ sessionID: "top" }, { context });
    expect(context).toEqual(["experimental.session.compacting"]);
    const system = async () => {
      const output = { system: [] as string[] };
      await plugin["experimental.chat.system.transform"]({ sessionID: "top" }, output);
      return output.system;
    };
    expect(await system()).toEqual(context);
    await say("top");
    expect(await system()).toEqual([]);
  });

  it("includes the end of the person's own sessions, not of an agent's", async () => {
    await created("top");
    await child("tester", "kid");
    const deleted = (id: string) => plugin.event({ event: { type: "session.deleted", properties: { info: { id } } } });
    await deleted("kid");
    await deleted("top");
    await deleted("top");
    expect(notes().filter(({ hook }) => hook === "dispose")).toMatchObject([{ sessionID: "top" }]);
  });

  it("does not stop a session when it cannot be delivered, or when there is something to mind", async () => {
    await created("broken");
    expect(await say("broken")).toHaveLength(1);
    expect(warnings).toEqual([
      expect.stringContaining("a hook was not delivered: Error: it broke"),
      expect.stringContaining("a hook was not delivered"),
    ]);
    await say("warned");
    expect(warnings.slice(2)).toEqual(["mind this", "mind this"]);
  });
});

it("tells a shell which project, harness and agent it works for", async () => {
  const env = async (sessionID: string) => {
    const output = { env: {} as Record<string, string> };
    await plugin["shell.env"]({ sessionID }, output);
    return output.env;
  };
  await created("top");
  await child("tester", "kid");
  const place = { NEXUS_PROJECT_DIR: root, NEXUS_HARNESS_ID: "nutcracker-opencode" };
  expect(await env("top")).toEqual(place);
  expect(await env("kid")).toEqual({ ...place, NEXUS_ROLE: "tester", NEXUS_AGENT_ID: "kid" });
});
