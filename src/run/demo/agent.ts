// The demo agent: a program of its own, started like any other agent, that plays every role from a script. It is no model
// and says so; what it does is real all the same: it edits files, runs tests and calls the tools.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { javascriptEngine } from "../../process/index.js";
import { type DemoScript, type HandOver, readHandOver, readScript, type ScriptedEdit } from "./script.js";
import { openTools, type Tools } from "./tools.js";

const HELLO = "This is the demo agent: a scripted program, not a model.";

interface Desk {
  readonly cwd: string;
  readonly role: string;
  readonly script: DemoScript | null;
  readonly handOver: HandOver;
  readonly tools: Tools | null;
}

async function main(): Promise<void> {
  const prompt = await readAll(process.stdin);
  const cwd = process.cwd();
  const role = process.env.NEXUS_ROLE ?? "lead";
  const tools = await openTools(process.env.NEXUS_MCP_CONFIG);
  const report = await play({ cwd, role, script: readScript(cwd), handOver: readHandOver(prompt), tools });
  const agent = process.env.NEXUS_AGENT_ID;
  if (tools !== null && agent !== undefined) {
    await call(tools, "nx_artifact_write", { filename: `report-${agent}.md`, content: report });
  }
  tools?.close();
  process.stdout.write(`${HELLO}\n${report}\n`);
}

function play(desk: Desk): string | Promise<string> {
  if (desk.script === null) {
    return "RESULT: blocked\nISSUE: the demo agent only knows requests that carry context/demo-agent.json; use --driver codex, claude or opencode";
  }
  switch (desk.role) {
    case "lead":
      return plan(desk, desk.script);
    case "tester":
      return test(desk);
    case "reviewer":
      return review(desk, desk.script);
    default:
      return desk.handOver.failedTitle === null ? work(desk, desk.script) : diagnose(desk, desk.script);
  }
}

async function plan({ tools, handOver }: Desk, script: DemoScript): Promise<string> {
  if (tools === null || script.plan === undefined)
    return "RESULT: done\nSUMMARY: there is nothing to plan in this script";
  const { issues = [], tasks } = script.plan;
  const titles = issues.map(({ title }) => title);
  await call(tools, "nx_plan_start", { topic: handOver.title, issues: titles, research_summary: "read the request" });
  for (const [index, { decision }] of issues.entries()) {
    await call(tools, "nx_plan_decide", { issue_id: index + 1, decision });
  }
  for (const task of tasks) await call(tools, "nx_task_add", { context: task.title, ...task });
  return `RESULT: done\nSUMMARY: planned ${tasks.length} tasks`;
}

function work({ cwd, handOver }: Desk, script: DemoScript): string {
  const tries = script.work?.[handOver.title] ?? script.work?.["*"] ?? [];
  const turn = tries[handOver.diagnosed ? Math.min(1, tries.length - 1) : 0];
  if (turn === undefined) return `RESULT: blocked\nISSUE: the script says nothing about "${handOver.title}"`;
  for (const edit of turn.edits ?? []) {
    applyEdit(cwd, edit);
    say({ nexus_event: "file", path: edit.path, change: edit.delete ? "deleted" : "modified" });
  }
  const decisions = (turn.decisions ?? []).map((decision) => `- DECISION: ${decision}`);
  return ["RESULT: done", `SUMMARY: ${turn.report ?? `did what "${handOver.title}" asks`}`, ...decisions].join("\n");
}

function applyEdit(cwd: string, { path, find, replace = "", content, delete: remove }: ScriptedEdit): void {
  const file = join(cwd, path);
  if (remove === true) {
    rmSync(file, { force: true });
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  if (content !== undefined) {
    writeFileSync(file, content);
    return;
  }
  const before = readFileSync(file, "utf8");
  const parts = before.split(find ?? "\0");
  // Already there, after an interrupted try: nothing to do.
  if (parts.length === 1 && replace !== "" && before.includes(replace)) return;
  if (parts.length !== 2) throw new Error(`${path}: the text to replace is there ${parts.length - 1} times`);
  writeFileSync(file, parts.join(replace));
}

function diagnose({ handOver }: Desk, script: DemoScript): string {
  const diagnosis = script.diagnosis?.[handOver.failedTitle ?? ""] ?? "the script has no diagnosis for it";
  return ["RESULT: done", `SUMMARY: ${diagnosis}`, `Seen in the check: ${handOver.complaints[0] ?? "nothing"}`].join(
    "\n",
  );
}

interface Criterion {
  readonly id: string;
  readonly type?: string;
  readonly script?: string;
}

/** Runs the scripts the request names, and says what came out. */
function test({ cwd }: Desk): string {
  const file = join(cwd, "tests", "criteria.json");
  const criteria = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as { criteria: Criterion[] }).criteria
    : [];
  const lines = criteria
    .filter(({ script, type = "shell" }) => script !== undefined && type === "shell")
    .map(({ id, script }) => {
      const { command, env } = /\.[cm]?js$/.test(script!) ? javascriptEngine() : { command: "sh", env: {} };
      const options = { cwd, env: { ...process.env, ...env }, encoding: "utf8", timeout: 60_000 } as const;
      return { id, status: spawnSync(command, [script!], options).status };
    });
  const failed = lines.filter(({ status }) => status !== 0);
  return [
    `VERDICT: ${failed.length === 0 ? "pass" : "fail"}`,
    `SUMMARY: ran ${lines.length} scripts of the request, ${failed.length} failed`,
    ...lines.map(({ id, status }) => `- ${id}: exit ${status}`),
  ].join("\n");
}

function review({ cwd, handOver }: Desk, script: DemoScript): string {
  const rows = handOver.checklist.map((_, index) => {
    const look = script.review?.[index];
    if (look === undefined) return `[unknown] ${index + 1}: the script does not say where to look`;
    const file = join(cwd, look.file);
    const at = existsSync(file) ? readFileSync(file, "utf8").indexOf(look.contains) : -1;
    const quote = JSON.stringify(look.contains);
    if (at < 0) return `[failed] ${index + 1}: ${look.file} does not hold ${quote}`;
    const line = readFileSync(file, "utf8").slice(0, at).split("\n").length;
    return `[passed] ${index + 1}: ${look.file}:${line} ${quote}`;
  });
  const bad = rows.some((row) => row.startsWith("[failed]"));
  return [
    `VERDICT: ${bad ? "fail" : "pass"}`,
    `SUMMARY: looked at ${rows.length} points`,
    "ACCEPTANCE",
    ...rows.map((row) => `- ${row}`),
  ].join("\n");
}

async function call(tools: Tools, tool: string, input: Record<string, unknown>): Promise<void> {
  await tools.call(tool, input);
  say({ nexus_event: "tool_call", id: tool, tool, input: Object.keys(input) });
}

const say = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);

void main();
