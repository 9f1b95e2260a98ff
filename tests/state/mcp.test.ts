// The server as a host sees it: a real process, the official client.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, describe, expect, it } from "vitest";
import { freshProject } from "./nexus.js";

const server = resolve("bin/nexus.js");
const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

async function connect(cwd: string, env: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const environment = { PATH: process.env.PATH ?? "", NEXUS_PROJECT_DIR: cwd, ...env };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [server, "mcp"],
      cwd,
      env: environment,
      stderr: "ignore",
    }),
  );
  clients.push(client);
  return client;
}

interface Answer {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { text: string }[];
  _meta?: Record<string, unknown>;
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: args })) as unknown as Answer;

/** Lines in, lines out, and how it ended. */
async function piped(cwd: string, input: string | Buffer, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [server, "mcp"], {
    cwd,
    env: { ...process.env, NEXUS_PROJECT_DIR: cwd, ...env },
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [code] = await once(child, "exit");
  return {
    code,
    err,
    answers: out
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  };
}

const line = (id: number, method: string, params: unknown = {}) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
const HELLO = `${line(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } })}{"jsonrpc":"2.0","method":"notifications/initialized"}\n`;

describe("nexus mcp", () => {
  it("lists eleven tools with hints and schemas, and says what they are for", async () => {
    const client = await connect(freshProject());
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(11);
    for (const { inputSchema, outputSchema, annotations, description } of tools) {
      expect(inputSchema.type).toBe("object");
      expect(outputSchema?.type).toBe("object");
      expect(annotations?.openWorldHint).toBe(false);
      expect(description!.length).toBeGreaterThan(20);
    }
    const readers = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
    expect(readers).toEqual(["nx_plan_status", "nx_task_list", "nx_history_search", "nx_context"]);
    expect(client.getInstructions()).toContain("Lead, the session a person talks to");
    expect(client.getInstructions()).not.toContain("You are");
  });

  it("takes a report where one is awaited, and knows no such tool elsewhere", async () => {
    const project = freshProject();
    const file = join(project, "..", `report-${process.pid}.json`);
    const client = await connect(project, { NEXUS_ROLE: "tester", NEXUS_REPORT_KIND: "work", NEXUS_REPORT_FILE: file });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).slice(11)).toEqual(["nx_report"]);
    const report = { summary: "s", decisions: [], issues: [] };
    expect(await call(client, "nx_report", { ...report, verdict: "pass" })).toMatchObject({
      isError: true,
      structuredContent: {
        error: "report: arguments: there is no field verdict",
        hint: expect.stringContaining("again"),
      },
    });
    expect(existsSync(file)).toBe(false);
    expect(await call(client, "nx_report", { ...report, summary: "x".repeat(200_001) })).toMatchObject({
      isError: true,
    });
    expect(await call(client, "nx_report", report)).toMatchObject({ structuredContent: { received: true } });
    expect(await call(client, "nx_report", { ...report, summary: "later" })).not.toHaveProperty("isError");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ summary: "later" });
    rmSync(file);
    const other = await connect(project, { NEXUS_ROLE: "tester" });
    expect(await call(other, "nx_report", report)).toMatchObject({
      isError: true,
      structuredContent: { code: "USAGE" },
    });
  });

  it("answers with structured content, the same as text, and the project", async () => {
    const project = freshProject();
    const client = await connect(project);
    const { structuredContent, content, isError, _meta } = await call(client, "nx_task_add", {
      title: "t",
      context: "c",
    });
    expect(isError).toBeUndefined();
    expect(JSON.parse(content[0]!.text)).toEqual(structuredContent);
    expect(content[1]!.text).toBe(`project: ${project}`);
    expect(_meta).toMatchObject({ "nutcracker/project": project });
    const refused = await call(client, "nx_plan_decide", { issue_id: 1, decision: "d" });
    expect(refused).toMatchObject({ isError: true, structuredContent: { error: "No active plan session" } });
    const wrong = await call(client, "nx_task_update", { id: 1, status: "blocked" });
    expect(wrong).toMatchObject({ isError: true, structuredContent: { code: "USAGE" } });
  });

  it("takes the role from the environment it was started with", async () => {
    const project = freshProject();
    const client = await connect(project, { NEXUS_ROLE: "tester", NEXUS_TASK_ID: "4" });
    expect(client.getInstructions()).toContain("You work as tester on task 4");
    const { isError, structuredContent } = await call(client, "nx_task_add", {
      title: "t",
      context: "c",
    });
    expect({ isError, code: structuredContent!.code }).toEqual({ isError: true, code: "ROLE_DENIED" });
  });

  it("refuses arguments that a tool does not have, by name", async () => {
    const client = await connect(freshProject());
    const { isError, structuredContent } = await call(client, "nx_task_add", {
      title: "t",
      context: "c",
      role: "lead",
    });
    expect({ isError, error: structuredContent!.error }).toEqual({
      isError: true,
      error: "task_add: arguments: there is no field role",
    });
  });

  it("bounds a long list and says where the rest is", async () => {
    const project = freshProject();
    mkdirSync(join(project, ".nexus/state"), { recursive: true });
    const task = (id: number) => ({
      id,
      title: `t${id}`,
      context: "c".repeat(200),
      status: id < 900 ? "completed" : "pending",
      deps: [],
    });
    const tasks = Array.from({ length: 1_000 }, (_, i) => task(i + 1));
    writeFileSync(join(project, ".nexus/state/tasks.json"), JSON.stringify({ goal: "", decisions: [], tasks }));
    const { structuredContent, content } = await call(await connect(project), "nx_task_list");
    const shown = structuredContent!.tasks as { id: number }[];
    expect(shown.length).toBeLessThan(300);
    expect(shown[0]!.id).toBe(900);
    expect(structuredContent!.summary).toMatchObject({ total: 1_000, completed: 899, pending: 101 });
    expect(content[1]!.text).toContain(
      `of 1000 tasks shown, unfinished ones first; the rest, one per line: ${project}`,
    );
  });

  it("keeps history replies short unless asked, and says how to get more", async () => {
    const project = freshProject();
    mkdirSync(join(project, ".nexus"), { recursive: true });
    const issues = Array.from({ length: 20 }, (_, i) => ({
      id: i + 1,
      title: "q",
      status: "decided",
      decision: "because ".repeat(40),
    }));
    const cycle = (id: number) => ({
      schema_version: "0.7",
      completed_at: "2026-01-01T00:00:00Z",
      branch: "main",
      plan: { id, topic: `p${id}`, issues, created_at: "2026-01-01T00:00:00Z" },
      tasks: [],
    });
    writeFileSync(
      join(project, ".nexus/history.json"),
      JSON.stringify({ cycles: Array.from({ length: 12 }, (_, i) => cycle(i + 1)) }),
    );
    const client = await connect(project);
    const short = await call(client, "nx_history_search", {});
    expect(short.content[0]!.text.length).toBeLessThan(8_000);
    expect(short.content[1]!.text).toContain("of 12 matching cycles; pass last_n");
    expect((await call(client, "nx_history_search", { last_n: 12 })).structuredContent).toMatchObject({
      showing: 12,
      total: 12,
    });
  });

  it("answers what it was asked before the input ended, and methods it does not know", async () => {
    const { code, answers } = await piped(
      freshProject(),
      HELLO +
        line(2, "tools/call", { name: "nx_context", arguments: {} }) +
        line(3, "no/such", {}) +
        line(4, "server/discover", {}) +
        line(5, "ping"),
    );
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    expect(code).toBe(0);
    expect(byId.get(2).result.structuredContent.activeMode).toBe(null);
    expect(byId.get(3).error.code).toBe(-32601);
    expect(byId.has(4)).toBe(true);
    expect(byId.get(5).result).toEqual({});
  });

  it("speaks the revision that opens with server/discover", async () => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const { answers } = await piped(
      freshProject(),
      line(1, "server/discover", { _meta }) + line(2, "tools/list", { _meta }),
    );
    expect(answers.find(({ id }) => id === 1)?.result?.capabilities).toHaveProperty("tools");
    expect(answers.find(({ id }) => id === 2)?.result?.tools).toHaveLength(11);
  });

  it("survives lines that are not messages", async () => {
    const { answers } = await piped(
      freshProject(),
      `${HELLO}not json\n{"jsonrpc":"2.0"}\n[]\n\n{"half\n${line(9, "ping")}`,
    );
    expect(answers.some(({ id, result }) => id === 9 && result !== undefined)).toBe(true);
  });

  it("ends with one line about a message too large to read", async () => {
    const huge = Buffer.alloc(50 * 1024 * 1024, "a");
    const { code, err } = await piped(freshProject(), Buffer.concat([Buffer.from(HELLO), huge]));
    expect(code).toBe(0);
    expect(err.trim().split("\n")).toHaveLength(1);
  });

  it("refuses unsafe files and numbers, and writes nothing", async () => {
    const project = freshProject();
    const client = await connect(project);
    mkdirSync(join(project, ".nexus/state/artifacts"), { recursive: true });
    symlinkSync("/etc", join(project, ".nexus/state/artifacts/out"));
    symlinkSync("/etc/hostname", join(project, ".nexus/state/artifacts/link.md"));
    for (const filename of [
      "../x",
      "/x",
      "a/../../x",
      "..",
      "",
      "a\0b",
      "C:\\x",
      "out/x",
      "link.md",
      "x/".repeat(9),
      "y".repeat(300),
      "con. ",
    ]) {
      const { isError } = await call(client, "nx_artifact_write", { filename, content: "x" });
      expect({ filename, isError }).toEqual({ filename, isError: true });
    }
    expect(
      (await call(client, "nx_artifact_write", { filename: "big.md", content: "x".repeat(17 * 1024 * 1024) })).isError,
    ).toBe(true);
    for (const id of [1.5, -0.5, "1.5", "x", Number.NaN, null, {}, [], "1e3"]) {
      const { isError } = await call(client, "nx_task_update", { id, status: "completed" } as never);
      expect({ id, isError }).toEqual({ id, isError: true });
    }
    expect((await call(client, "nx_task_update", { id: -1, status: "completed" })).structuredContent!.error).toBe(
      "tasks.json not found",
    );
  });

  it("takes no harm from names that objects have", async () => {
    const project = freshProject();
    const client = await connect(project);
    await call(client, "nx_plan_start", { topic: "t", issues: ["a"], research_summary: "r" });
    const how = JSON.parse('{"__proto__":"x","constructor":"y","architect":"z"}');
    await call(client, "nx_plan_decide", { issue_id: 1, decision: "d", how_summary: how });
    expect(
      JSON.parse(readFileSync(join(project, ".nexus/state/plan.json"), "utf8")).issues[0].how_summary.architect,
    ).toBe("z");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("ends when it is told to, with 143", async () => {
    const project = freshProject();
    const child = spawn(process.execPath, [server, "mcp"], { cwd: project, stdio: ["pipe", "pipe", "ignore"] });
    child.stdin.write(HELLO);
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect((await once(child, "exit"))[0]).toBe(143);
  });
});
