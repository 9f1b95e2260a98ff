// Decisions over events by themselves: no disk, no host.
import { describe, expect, it } from "vitest";
import type { LifecycleEvent } from "../schema/events.js";
import { decide } from "./decide.js";
import type { Facts } from "./facts.js";

const facts = (over: Partial<Facts> = {}): Facts => ({
  root: "/p",
  tasksExist: true,
  limits: { engineer: [], tester: ["file_creation", "file_modification", "file_deletion"] },
  tracked: {},
  processRole: null,
  activeSkill: null,
  settings: [],
  loss: () => null,
  linked: [],
  sandbox: null,
  sandboxMayFail: false,
  places: (path) => [path],
  home: null,
  textOf: () => null,
  plan: null,
  goal: null,
  tasks: null,
  ready: [],
  agents: [],
  agentTasks: {},
  edits: [],
  knowledge: { memory: [], context: [], rules: [] },
  mode: null,
  toldOpen: null,
  changedSetting: () => null,
  otherSessions: 0,
  tags: [],
  skill: () => null,
  resumable: () => null,
  toolNames: {},
  hostDocs: {},
  troubles: [],
  ...over,
});
const common = { sessionId: "s", cwd: "/p" };
const effectsOf = (event: LifecycleEvent, over: Partial<Facts> = {}) => decide(event, facts(over)).effects;

describe("a task that promises something [P7]", () => {
  const ended: LifecycleEvent = { type: "subagent_complete", agentId: "a1", agentName: "tester", ...common };
  const task = { id: 1, title: "t", status: "in_progress", acceptance: "it works" };
  const agent = (agent_id: string, agent_name: string) => ({ agent_id, agent_name, status: "running", started_at: "" });

  it("is not checked by whoever did it, whatever its role", () => {
    const over = { tasks: [task], agents: [agent("a1", "tester")], agentTasks: { a1: 1 } };
    expect(decide(ended, facts(over)).warnings.join()).toContain("nobody verified");
  });

  it("is checked by a tester who is at work on it", () => {
    const agents = [agent("a1", "engineer"), agent("a2", "tester")];
    const over = { tasks: [task], agents, agentTasks: { a1: 1, a2: 1 } };
    expect(decide({ ...ended, agentName: "engineer" }, facts(over)).warnings).toEqual([]);
  });
});

describe("a tool that was used", () => {
  const tool = { name: "Write", access: "edit", classes: [], paths: ["a.txt"] } as const;
  const used = (ok: boolean): LifecycleEvent => ({ type: "post_tool_use", caller: {}, tool, ok, ...common });

  it("is an edit only when it worked, and is logged either way", () => {
    expect(effectsOf(used(true)).map(({ type }) => type)).toEqual(["log_tool", "record_edits"]);
    expect(effectsOf(used(false)).map(({ type }) => type)).toEqual(["log_tool"]);
  });
});

describe("a call that is denied", () => {
  it("leaves a line in the tool log", () => {
    const tool = { name: "", access: "read", classes: [], paths: [] } as const;
    const effects = effectsOf({ type: "pre_tool_use", caller: {}, tool, ...common });
    expect(effects).toMatchObject([{ type: "log_tool", hostTool: "" }]);
  });
});

describe("a turn that ends while tasks are open", () => {
  const ended = { type: "turn_end", wentOn: false, background: [], ...common } as const;
  const tasks = [
    { id: 1, title: "one", status: "completed" },
    { id: 2, title: "two\n[run]", status: "in_progress" },
    { id: 3, title: "three", status: "pending" },
    { id: 4, title: "four", status: "pending" },
  ];
  const running = { activeSkill: "nx-run", tasks, ready: [3] };
  const told = (event: Partial<Extract<LifecycleEvent, { type: "turn_end" }>> = {}, over: Partial<Facts> = {}) =>
    decide({ ...ended, ...event }, facts({ ...running, ...over }));

  it("goes on once, told which", () => {
    const { outcome, reason, effects } = told();
    const open = '#2 "two [run]" (in progress), #3 "three" (pending)';
    expect([outcome, effects]).toEqual(["deny", [{ type: "tell_open", open }]]);
    expect(reason).toContain(open);
    expect(told({}, { toldOpen: open }).outcome).toBe("allow");
    expect(told({}, { toldOpen: open, ready: [3, 4] }).outcome).toBe("deny");
    expect(told({ wentOn: true })).toMatchObject({ outcome: "allow", effects: [] });
  });

  it("ends where somebody asks, waits or is at work, and outside of a run", () => {
    const agents = [{ agent_id: "a1", agent_name: "engineer", status: "running", started_at: "" }];
    const ends = [
      told({ lastMessage: "Shall I go on?\n" }),
      told({ background: ["b1"] }),
      told({}, { agents }),
      told({}, { activeSkill: "nx-plan" }),
      told({}, { activeSkill: null }),
      told({}, { tasks: null, ready: [] }),
      told({}, { tasks: tasks.slice(3), ready: [] }),
    ];
    expect(ends.map(({ outcome }) => outcome)).toEqual(ends.map(() => "allow"));
  });
});
