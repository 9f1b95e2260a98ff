// Every role × every tool × every door. The expected table is written out here, so that changing the policy means changing
// it in two places on purpose.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { blockedClasses, effectiveCapabilities, loadCatalog, roleLimits } from "../../src/catalog/index.js";
import { claudeArguments } from "../../src/drivers/claude.js";
import { codexProfile } from "../../src/drivers/codex.js";
import type { Driver, SessionRequest } from "../../src/drivers/index.js";
import { opencodeEnvironment } from "../../src/drivers/opencode-settings.js";
import { gate } from "../../src/events/index.js";
import { claudeAgent } from "../../src/hosts/claude/install.js";
import { findHost, type Host, SERVER } from "../../src/hosts/index.js";
import { opencodeAgent } from "../../src/hosts/opencode/install.js";
import { answer } from "../../src/mcp/answer.js";
import { driverRunner } from "../../src/run/agents/driver-runner.js";
import { roleOf } from "../../src/run/run.js";
import type { Caller, ToolUse } from "../../src/schema/events.js";
import { deniedNexusTools, mayCall, mayEdit, mayRunCommands, standingOf } from "../../src/schema/roles.js";
import { type NexusTool, TOOLS } from "../../src/schema/tools.js";
import { gateFacts } from "../../src/session/gate-facts.js";
import { freshProject, nexus } from "../state/nexus.js";
import { hostFace, newProject } from "./hook-process.js";

const READS: readonly NexusTool[] = ["plan_status", "task_list", "history_search", "context", "artifact_write"];
const DO: readonly NexusTool[] = [...READS, "task_update"];
const MAY: Readonly<Record<string, readonly NexusTool[]>> = {
  lead: TOOLS,
  architect: READS,
  designer: READS,
  postdoc: READS,
  strategist: READS,
  engineer: DO,
  writer: DO,
  researcher: DO,
  tester: DO,
  reviewer: DO,
};
const EDITORS = ["engineer", "writer"];
const STRANGERS = ["stranger", "__proto__"];

const ARGUMENTS: Readonly<Partial<Record<NexusTool, object>>> = {
  plan_start: { topic: "t", issues: ["a"], research_summary: "r" },
  plan_update: { action: "add", title: "t" },
  plan_decide: { issue_id: 1, decision: "d" },
  task_add: { title: "t", context: "c" },
  task_update: { id: 1, status: "completed" },
  artifact_write: { filename: "a.md", content: "x" },
};

const catalog = await loadCatalog();
const HOSTS = ["claude", "claude-plugin", "codex", "opencode", "qwen", "gemini"];
const ROLES = Object.keys(MAY).filter((role) => role !== "lead");
const expected = (role: string) =>
  Object.hasOwn(MAY, role) ? TOOLS.filter((tool) => MAY[role]!.includes(tool)) : READS;
const withoutClosing = (tools: readonly NexusTool[]) => tools.filter((tool) => tool !== "task_close");

let root: string;
beforeEach(() => {
  ({ root } = newProject({ ".nexus/state/tasks.json": '{"goal":"","decisions":[],"tasks":[]}' }));
});

async function letThroughByGate(host: Host, caller: Caller, uses: readonly ToolUse[]): Promise<ToolUse[]> {
  const facts = await gateFacts({ cwd: root, env: {}, host: hostFace(host) });
  return uses.filter(
    (tool) => gate({ type: "pre_tool_use", sessionId: "s", cwd: root, caller, tool }, facts).outcome === "allow",
  );
}

const nexusUses = (host: Host) => TOOLS.map((tool) => host.toolUse(host.toolName(tool), ARGUMENTS[tool] ?? {}));
const names = (uses: readonly ToolUse[]) => uses.map(({ nexusTool }) => nexusTool);
const callerIn = (role: string): Caller => (role === "lead" ? {} : { agentId: "a1", agentName: role });

describe("the table", () => {
  it("names every role of the catalog", () => {
    expect(ROLES.toSorted()).toEqual(catalog.agents.map(({ id }) => id).toSorted());
  });

  it.each([...Object.keys(MAY), ...STRANGERS])("says what %s may call", (role) => {
    const standing = standingOf({ processRole: role === "lead" ? null : role }, roleLimits(catalog));
    expect(TOOLS.filter((tool) => mayCall(tool, standing))).toEqual(expected(role));
    expect(TOOLS.filter((tool) => mayCall(tool, standing, "run"))).toEqual(withoutClosing(expected(role)));
    expect(mayEdit(standing)).toBe(role === "lead" || EDITORS.includes(role));
  });

  it("tells Lead, a host's own helper and somebody unknown apart", () => {
    const limits = roleLimits(catalog);
    const kind = (claim: Parameters<typeof standingOf>[0]) => standingOf(claim, limits).kind;
    expect(kind({})).toBe("lead");
    // A person may run a session of their own agent: it is still the session they talk to.
    expect(kind({ names: ["my-agent"] })).toBe("lead");
    expect(kind({ names: ["tester"] })).toBe("role");
    expect(kind({ agentId: "a", names: ["general-purpose"] })).toBe("helper");
    expect(kind({ agentId: "a" })).toBe("unknown");
    expect(kind({ agentId: "a", names: ["constructor"] })).toBe("helper");
    expect(kind({ processRole: "no-such-role" })).toBe("unknown");
    expect(kind({ names: ["tester"], processRole: "no-such-role" })).toBe("unknown");
  });

  it("holds a caller with two names to the limits of both", () => {
    const { roles, blocked } = standingOf({ agentId: "a", names: ["engineer", "architect"] }, roleLimits(catalog));
    expect(roles).toEqual(["engineer", "architect"]);
    expect(blocked.has("file_creation") && blocked.has("nexus_task_state_transition")).toBe(true);
  });
});

describe.each(Object.keys(MAY))("%s, through every door", (role) => {
  it.each(HOSTS)("the gate of %s", async (name) => {
    const host = findHost(name)!;
    expect(names(await letThroughByGate(host, callerIn(role), nexusUses(host)))).toEqual(expected(role));
  });

  it("`nexus call` and the MCP server", async () => {
    const project = freshProject();
    const env = { NEXUS_PROJECT_DIR: project, ...(role === "lead" ? {} : { NEXUS_ROLE: role }) };
    const context = { cwd: project, env, now: () => new Date(), signal: new AbortController().signal };
    const called: NexusTool[] = [];
    const answered: NexusTool[] = [];
    for (const tool of TOOLS) {
      const { err } = await nexus(project, ["call", tool, JSON.stringify(ARGUMENTS[tool] ?? {})], { env });
      if (!err.includes("is not for the role")) called.push(tool);
      const request = { name: `nx_${tool}`, arguments: { ...ARGUMENTS[tool] } };
      const { structuredContent } = await answer(request, context as unknown as Parameters<typeof answer>[1]);
      if (structuredContent?.code !== "ROLE_DENIED") answered.push(tool);
    }
    expect(called).toEqual(expected(role));
    expect(answered).toEqual(expected(role));
  });

  it("the drivers of a run", async () => {
    const request = await driverRequest(role);
    const ours = TOOLS.map((tool) => `nx_${tool}`);
    const left = (denied: readonly string[]) => ours.filter((tool) => !denied.includes(tool));
    const wanted = withoutClosing(expected(role)).map((tool) => `nx_${tool}`);
    const codex = codexProfile(request).mcp_servers as Record<string, { disabled_tools: string[] }>;
    expect(left(codex[SERVER]!.disabled_tools)).toEqual(wanted);
    const flags = claudeArguments(request, { role: "r", servers: "s" });
    const disallowed = flags[flags.indexOf("--disallowedTools") + 1]!.split(",");
    expect(left(disallowed.map((tool) => tool.replace(`mcp__${SERVER}__`, "")))).toEqual(wanted);
    const permission = JSON.parse(opencodeEnvironment(request).OPENCODE_PERMISSION!);
    expect(ours.filter((tool) => permission[`${SERVER}_${tool}`] !== "deny")).toEqual(wanted);
  });
});

describe.each(ROLES)("%s and the tools of hosts", (role) => {
  const blocked = [...blockedClasses(effectiveCapabilities(catalog.agents.find(({ id }) => id === role)!), catalog)];
  const agentFile = { id: role, description: "d", prompt: "p", blocked, model: null };

  it("is kept from the same tools by the files of a set-up", () => {
    const denied = deniedNexusTools({ kind: "role", roles: [role], blocked: new Set(blocked) });
    for (const host of [findHost("claude")!, findHost("claude-plugin")!]) {
      const file = claudeAgent(agentFile, host.toolName);
      const list = /disallowedTools: (.+)/.exec(file)![1]!.split(", ");
      expect(TOOLS.filter((tool) => list.includes(host.toolName(tool)))).toEqual(denied);
      expect(list.includes("Write")).toBe(!EDITORS.includes(role));
    }
    const permission = JSON.parse(/permission: (.+)/.exec(opencodeAgent(agentFile))![1]!);
    expect(TOOLS.filter((tool) => permission[findHost("opencode")!.toolName(tool)] === "deny")).toEqual(denied);
    expect(permission.edit === "deny").toBe(!EDITORS.includes(role));
  });

  it.each(HOSTS)("meets the same limits at the gate of %s as in a run", async (name) => {
    const host = findHost(name)!;
    const builtin = [...new Set(Object.values(host.toolsByClass).flat())];
    const input = { file_path: "a", filePath: "a", notebook_path: "a", command: "ls", patchText: "+++ b/a" };
    const uses = builtin
      .map((tool) => host.toolUse(tool, tool === "apply_patch" ? { ...input, command: "+++ b/a" } : input))
      .filter(({ access }) => access === "edit" || access === "shell");
    const passed = await letThroughByGate(host, callerIn(role), uses);
    const run = roleOf({ catalog }, role);
    expect(passed.some(({ access }) => access === "edit")).toBe(run.mayEdit);
    expect(passed.some(({ access }) => access === "shell")).toBe(run.mayRunShell);
    if (run.mayEdit) expect(passed).toEqual(uses);
    expect({ edit: run.mayEdit, shell: run.mayRunShell }).toEqual({
      edit: EDITORS.includes(role),
      shell: true,
    });
  });

  it("is offered no built-in tool by Claude's driver that Claude's gate would refuse", async () => {
    const flags = claudeArguments(await driverRequest(role), { role: "r", servers: "s" });
    const offered = flags[flags.indexOf("--tools") + 1]!.split(",");
    const host = findHost("claude")!;
    const uses = offered.map((tool) => host.toolUse(tool, { file_path: "a", notebook_path: "a", command: "ls" }));
    expect(uses.filter(({ access }) => access === "other")).toEqual([]);
    expect(await letThroughByGate(host, callerIn(role), uses)).toEqual(uses);
  });
});

describe("whoever is in no catalog", () => {
  it.each(STRANGERS)("%s, as the role of a process, may read and hand over", async (role) => {
    const project = freshProject();
    for (const tool of TOOLS) {
      const { err } = await nexus(project, ["call", tool, JSON.stringify(ARGUMENTS[tool] ?? {})], {
        env: { NEXUS_ROLE: role },
      });
      expect(err.includes("is not for the role"), tool).toBe(!READS.includes(tool));
    }
  });

  it.each(HOSTS)("a helper of %s's own and an agent nobody announced have the same Nexus tools", async (name) => {
    const host = findHost(name)!;
    for (const caller of [{ agentId: "a1", agentName: "general-purpose" }, { agentId: "a1" }])
      expect(names(await letThroughByGate(host, caller, nexusUses(host)))).toEqual(READS);
  });

  it("an agent the host's own thread belongs to is held to its record at the MCP server", async () => {
    const own = join(root, ".nexus/state/nutcracker-codex");
    mkdirSync(own, { recursive: true });
    const agent = (id: string, name?: string) => ({
      harness_id: "nutcracker-codex",
      agent_id: id,
      ...(name === undefined ? {} : { agent_name: name }),
      started_at: "2026-01-01T00:00:00Z",
    });
    writeFileSync(
      join(own, "agent-tracker.json"),
      JSON.stringify([agent("t1", "tester"), agent("t2", "explorer"), agent("t3")]),
    );
    const env = { NEXUS_PROJECT_DIR: root, NEXUS_HARNESS_ID: "nutcracker-codex" };
    const context = { cwd: root, env, now: () => new Date() } as unknown as Parameters<typeof answer>[1];
    const refused = async (threadId: string, tool: NexusTool) => {
      const request = { name: `nx_${tool}`, arguments: { ...ARGUMENTS[tool] }, _meta: { threadId } };
      return (await answer(request, context)).structuredContent?.code === "ROLE_DENIED";
    };
    for (const tool of TOOLS) {
      expect(await refused("t1", tool), tool).toBe(!DO.includes(tool));
      for (const thread of ["t2", "t3"]) expect(await refused(thread, tool), tool).toBe(!READS.includes(tool));
      expect(await refused("the person's own", tool), tool).toBe(false);
    }
  });

  it("a project can deny a role running commands, at the gate and in a run alike", () => {
    const blocked = blockedClasses(["no_shell_exec"], catalog);
    expect(mayRunCommands({ blocked })).toBe(false);
    for (const one of blocked) expect(mayRunCommands({ blocked: new Set([one]) }), one).toBe(false);
  });
});

/** What a driver is asked for when a run starts an agent in a role. */
async function driverRequest(role: string): Promise<SessionRequest> {
  let request: SessionRequest | null = null;
  const driver = {
    name: "command",
    start: async (given: SessionRequest) => {
      request = given;
      throw new Error("enough");
    },
  } as unknown as Driver;
  const probe = { abilities: { mcp: "native", resume: "absent" }, version: null, program: "p", path: null };
  const runner = driverRunner({
    driver,
    probe: probe as unknown as Parameters<typeof driverRunner>[0]["probe"],
    name: "test",
    env: {},
    tools: { server: { command: "nexus", args: ["mcp"] }, relay: { command: "relay", args: [] } },
  });
  const { blocked, capabilities, mayEdit, mayRunShell } =
    role === "lead"
      ? { blocked: new Set<string>(), capabilities: [], mayEdit: false, mayRunShell: true }
      : roleOf({ catalog }, role);
  const about = { agent: "a", role, task: 1, rolePrompt: "r", taskPrompt: "t", cwd: root, home: root, env: {} };
  const limits = { blocked, capabilities, mayEdit, mayRunShell, readable: [], signal: new AbortController().signal };
  await runner.run({ ...about, ...limits }, () => {}).catch(() => undefined);
  return request!;
}
