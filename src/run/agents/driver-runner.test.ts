import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Driver, DriverEvent, Probe, Session, SessionEnd, SessionRequest } from "../../drivers/index.js";
import type { AgentEvent, AgentRequest } from "./agent.js";
import { driverRunner } from "./driver-runner.js";

const abilities = {
  resume: "native",
  cancel: "native",
  mcp: "native",
  usage: "native",
  files: "native",
  deny_edit: "native",
  deny_shell: "native",
  budget: "absent",
  report: "native",
} as const;
const probe: Probe = {
  driver: "codex",
  program: "codex",
  path: "/bin/codex",
  version: "1.2.3",
  usable: true,
  abilities,
};
const exit = { reason: "exited", code: 0, signal: null } as unknown as SessionEnd["exit"];

/** A driver whose session tells some events and ends as it is told. */
function fake(events: readonly DriverEvent[], end: Partial<SessionEnd> = {}, session: Partial<Session> = {}) {
  const requests: SessionRequest[] = [];
  const driver: Driver = {
    name: "codex",
    probe: async () => probe,
    start: async (request) => {
      requests.push(request);
      for (const event of events) request.onEvent?.(event);
      const ended = Promise.resolve<SessionEnd>({
        outcome: "completed",
        sessionId: "s",
        text: "done",
        usage: null,
        exit,
        ...end,
      });
      return { pid: 1, ended, cancel: () => ended, ...session };
    },
  };
  return { driver, requests };
}

const request = (more: Partial<AgentRequest> = {}): AgentRequest => ({
  agent: "engineer-1",
  role: "engineer",
  task: 1,
  rolePrompt: "role",
  taskPrompt: "task",
  cwd: "/work",
  home: "/home",
  env: { NEXUS_ROLE: "engineer", API: "secret", EMPTY: undefined },
  mayEdit: true,
  mayRunShell: false,
  capabilities: [],
  blocked: new Set(),
  readable: ["/state"],
  signal: new AbortController().signal,
  ...more,
});

const server = { command: "node", args: ["nexus.js", "mcp"] };
const tools = { server, relay: { command: "node", args: ["relay.js"] } };
function runner(driver: Driver, more: { name?: string; probe?: Probe } = {}) {
  const env = { PATH: "/bin", SECRET: "x" };
  return driverRunner({ driver, probe, name: "codex", env, tools, sandbox: "off", ...more });
}

async function play(events: readonly DriverEvent[], end: Partial<SessionEnd> = {}) {
  const told: AgentEvent[] = [];
  const outcome = await runner(fake(events, end).driver).run(request(), (event) => told.push(event));
  return { told, outcome };
}

describe("a driver as the run sees it", () => {
  it("hands limits, prompts and credentials to the session, and to the tools only who calls", async () => {
    const { driver, requests } = fake([]);
    await runner(driver).run(
      request({ blocked: new Set(["nexus_task_creation"]), resume: "s0", model: "m" }),
      () => {},
    );
    expect(requests[0]).toMatchObject({
      rolePrompt: "role",
      taskPrompt: "task",
      may: { edit: true, shell: false },
      deniedTools: ["plan_start", "plan_update", "plan_decide", "task_add", "task_close"].map(
        (name) => `nexus.nx_${name}`,
      ),
      extraEnv: { NEXUS_ROLE: "engineer", API: "secret" },
      mcpServers: [{ name: "nexus", ...server, env: { NEXUS_ROLE: "engineer", PATH: "/bin" } }],
      resume: "s0",
      model: "m",
      sandbox: "off",
      readable: ["/state"],
    });
    expect(requests[0]?.extraEnv).not.toHaveProperty("EMPTY");
    expect(JSON.stringify(requests[0]?.mcpServers)).not.toContain("secret");
  });

  it("lets Lead plan, and nobody close a cycle", async () => {
    const { driver, requests } = fake([]);
    await runner(driver).run(request({ role: "lead" }), () => {});
    expect(requests[0]?.deniedTools).toEqual(["nexus.nx_task_close"]);
    const blocked = new Set(["nexus_task_state_transition"]);
    await runner(driver).run(request({ blocked }), () => {});
    const planning = ["plan_start", "plan_update", "plan_decide"];
    expect(requests[1]?.deniedTools).toEqual(
      [...planning, "task_update", "task_close"].map((name) => `nexus.nx_${name}`),
    );
  });

  it("gives no tools to a program that cannot call them", async () => {
    const { driver, requests } = fake([]);
    const mute: Probe = { ...probe, abilities: { ...abilities, mcp: "absent", resume: "absent" } };
    const one = runner(driver, { probe: mute });
    await one.run(request(), () => {});
    expect(requests[0]?.mcpServers).toEqual([]);
    expect(one).toMatchObject({ hasTools: false, canPlan: false, canResume: false });
    expect(runner(driver)).toMatchObject({ hasTools: true, canPlan: true, canResume: true });
    expect(runner(driver, { name: "command" }).canPlan).toBe(false);
  });

  it("believes no wait that could not be written down", async () => {
    const trouble = { kind: "limit", retryAfterMs: Number.POSITIVE_INFINITY } as const;
    const { driver } = fake([], { outcome: "failed", error: "later", trouble });
    const { trouble: heard } = await runner(driver).run(request(), () => {});
    expect(heard).toEqual({ kind: "limit", retryAfterMs: 366 * 86_400_000, message: "later" });
  });

  it("takes a continued session that is full for a lost one, and a new one that fills up for its agent's work", async () => {
    const { driver } = fake([], { outcome: "failed", error: "Prompt is too long · the request is ~210000 tokens" });
    const heard = async (more: Partial<AgentRequest>) => (await runner(driver).run(request(more), () => {})).trouble;
    expect(await heard({ resume: "s0" })).toMatchObject({ kind: "session" });
    expect(await heard({})).toBeUndefined();
  });

  describe("a report", () => {
    const folder = mkdtempSync(join(tmpdir(), "nut-report-"));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    const report = { kind: "review" as const, file: join(folder, "report.json") };
    const emulated: Probe = { ...probe, abilities: { ...abilities, report: "emulated" } };

    it("is asked for in its shape where the program holds one, and no server is told of it", async () => {
      const { driver, requests } = fake([], { report: { summary: "s" } });
      const one = runner(driver);
      expect(one.reports).toBe("shape");
      expect(await one.run(request({ report }), () => {})).toMatchObject({ report: { summary: "s" }, text: "done" });
      expect(requests[0]?.reportSchema).toMatchObject({ required: expect.arrayContaining(["verdict", "items"]) });
      expect(JSON.stringify(requests[0]?.mcpServers)).not.toContain("NEXUS_REPORT");
    });

    it("goes through a tool of ours elsewhere; the agent's own environment does not know where", async () => {
      writeFileSync(report.file, '{"summary":"handed in"}');
      const { driver, requests } = fake([]);
      const one = runner(driver, { probe: emulated });
      expect(one.reports).toBe("tool");
      expect(await one.run(request({ report }), () => {})).toMatchObject({ report: { summary: "handed in" } });
      expect(requests[0]).not.toHaveProperty("reportSchema");
      expect(requests[0]?.mcpServers[0]?.env).toMatchObject({
        NEXUS_REPORT_KIND: "review",
        NEXUS_REPORT_FILE: report.file,
      });
      expect(requests[0]?.extraEnv).not.toHaveProperty("NEXUS_REPORT_FILE");
    });

    it("is words where none was handed in, and with the demo agent", async () => {
      writeFileSync(report.file, "{ torn");
      const { driver } = fake([]);
      const outcome = await runner(driver, { probe: emulated }).run(request({ report }), () => {});
      expect(outcome).not.toHaveProperty("report");
      expect(runner(driver, { name: "demo" })).not.toHaveProperty("reports");
      const mute: Probe = { ...emulated, abilities: { ...emulated.abilities, mcp: "absent" } };
      expect(runner(driver, { probe: mute })).not.toHaveProperty("reports");
    });
  });

  it("tells a call once it came to an end, and equal calls by the same key", async () => {
    const call = (id: string, status: "started" | "finished" | "failed", input: unknown): DriverEvent => ({
      type: "tool_call",
      id,
      tool: "read",
      status,
      input,
    });
    const { told } = await play([
      call("1", "started", { path: "a" }),
      call("1", "finished", { path: "a" }),
      call("2", "failed", { path: "a" }),
      call("3", "finished", { path: "b" }),
    ]);
    expect(told.map((event) => event.type === "tool" && event.ok)).toEqual([true, false, true]);
    const keys = told.map((event) => (event.type === "tool" ? event.key : ""));
    expect(keys[0]).toBe(keys[1]);
    expect(keys[0]).not.toBe(keys[2]);
  });

  it("counts what goes in and what comes out", async () => {
    const { told } = await play([
      { type: "session", id: "s" },
      { type: "usage", usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.5 } },
      { type: "usage", usage: { inputTokens: 10, outputTokens: 5 } },
      { type: "usage", usage: { inputTokens: 0.4, outputTokens: 2.5, costUsd: 1e300 } },
      { type: "usage", usage: { inputTokens: 1e300, outputTokens: 1e300 } },
      { type: "question", text: "may it?", answer: "refused" },
      { type: "warning", message: "no sandbox" },
      { type: "file", path: "a", change: "created" },
    ]);
    expect(told).toEqual([
      { type: "session", id: "s" },
      { type: "usage", tokens: 15, costUsd: 0.5 },
      { type: "usage", tokens: 15, costUsd: 0 },
      { type: "usage", tokens: 3, costUsd: 1e9 },
      { type: "usage", tokens: 1e12, costUsd: 0 },
      { type: "question", text: "may it? (refused)" },
      { type: "message", text: "warning: no sandbox" },
      { type: "file", path: "a" },
    ]);
  });

  it.each([
    ["completed", "done"],
    ["failed", "failed"],
    ["timeout", "failed"],
    ["cancelled", "stopped"],
  ] as const)("calls %s %s", async (outcome, wanted) => {
    expect((await play([], { outcome, error: "why" })).outcome.outcome).toBe(wanted);
  });

  it("cancels the session when the run is halted, before or after it began", async () => {
    for (const early of [true, false]) {
      const halt = new AbortController();
      let cancelled = 0;
      const end: SessionEnd = { outcome: "cancelled", sessionId: null, text: "", usage: null, exit };
      let finish = (_: SessionEnd) => {};
      const ended = new Promise<SessionEnd>((resolve) => {
        finish = resolve;
      });
      const cancel = async () => {
        cancelled += 1;
        finish(end);
        return end;
      };
      if (early) halt.abort();
      else setTimeout(() => halt.abort(), 5);
      const { driver } = fake([], {}, { ended, cancel });
      expect(await runner(driver).run(request({ signal: halt.signal }), () => {})).toEqual({
        outcome: "stopped",
        text: "",
      });
      expect(cancelled).toBe(1);
    }
  });
});
