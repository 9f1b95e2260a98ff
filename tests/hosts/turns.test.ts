// The end of a turn, agents that a person stopped, and settings that change, through the real hook process.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { claudePayload, type HookOptions, newProject, runHook } from "./hook-process.js";

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
const fire = (event: string, fields: object = {}, options: HookOptions = {}) =>
  runHook(claudePayload(root, event, fields), { event, ...options });
const begin = (options: HookOptions = {}) => fire("SessionStart", { source: "startup" }, options);
const task = (fields: object = {}) => ({ id: 1, title: "do it", context: "c", status: "pending", deps: [], ...fields });
const tasks = (...list: object[]) => put(".nexus/state/tasks.json", { goal: "g", decisions: [], tasks: list });

describe("turn_end and settings_change", () => {
  const answered = async (event: string, fields: object = {}) => {
    const { exit, stdout } = await fire(event, fields);
    expect(exit).toBe(0);
    return stdout === "" ? null : JSON.parse(stdout);
  };
  const stop = (fields: object = {}) => answered("Stop", { stop_hook_active: false, ...fields });

  it("lets Lead not stop in the middle of a run without a word, and never twice for the same", async () => {
    await begin();
    tasks(task(), task({ id: 2, title: "later", deps: [1] }));
    expect(await stop()).toBeNull();
    await fire("UserPromptSubmit", { prompt: "[run] go" });
    expect(await stop({ stop_hook_active: true })).toBeNull();
    expect(await stop()).toEqual({ decision: "block", reason: expect.stringContaining('#1 "do it" (pending)') });
    expect(await stop()).toBeNull();
    tasks(task({ status: "completed" }), task({ id: 2, title: "later", deps: [1] }));
    expect(await stop()).toMatchObject({ reason: expect.stringContaining("#2") });
    await fire("UserPromptSubmit", { prompt: "[run] again" });
    expect(await stop({ last_assistant_message: "This way, or that?" })).toBeNull();
    expect(await stop()).toMatchObject({ decision: "block" });
  });

  it("knows of agents a person stopped once nothing goes on behind Lead's turn, and completes no task of theirs", async () => {
    await begin({ env: { NEXUS_SANDBOX: "off" } });
    tasks(task({ owner: "tester", status: "in_progress" }));
    await fire("SubagentStart", { agent_id: "a1", agent_type: "tester" });
    put("a.txt", "changed");
    await stop({ background_tasks: [{ id: "a1", type: "subagent", status: "running" }] });
    await stop({ background_tasks: [], session_id: "session-2" });
    await stop();
    expect(readFileSync(path("a.txt"), "utf8")).toBe("changed");
    const { systemMessage } = await stop({ background_tasks: [{ id: "b1", type: "shell" }] });
    expect(systemMessage).toContain("the tester role was stopped before its end");
    expect(systemMessage).toContain("put back");
    expect(readFileSync(path("a.txt"), "utf8")).toBe("hello\n");
    expect(json(`${OWN}/agent-tracker.json`)).toMatchObject([{ status: "completed" }]);
    expect(json(".nexus/state/tasks.json")).toMatchObject({ tasks: [{ status: "in_progress" }] });
  });

  it("keeps the settings a session has while a role is at work, and no longer [P6]", async () => {
    const settings = ".claude/settings.json";
    const change = () => answered("ConfigChange", { source: "project_settings", file_path: path(settings) });
    put(settings, { hooks: { PreToolUse: [] } });
    await begin();
    await fire("SubagentStart", { agent_id: "a1", agent_type: "tester" });
    expect(await change()).toBeNull();
    put(settings, {});
    expect(await change()).toEqual({
      decision: "block",
      reason: expect.stringContaining("the tester role is at work"),
    });
    await fire("SubagentStop", { agent_id: "a1", agent_type: "tester" });
    expect(json(settings)).toEqual({ hooks: { PreToolUse: [] } });
    put(settings, {});
    expect(await change()).not.toHaveProperty("decision");
  });
});
