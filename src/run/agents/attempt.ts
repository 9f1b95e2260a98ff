// One session of one agent, from its prompt to what it left behind. Everything it says is kept in the agent's own folder.
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bodyOf, modelFor } from "../../catalog/index.js";
import type { AgentEnd, AgentStart, AgentUsage } from "../../schema/journal.js";
import type { RunTask } from "../../schema/run.js";
import { TOOLS } from "../../schema/tools.js";
import { gitFacts } from "../../trees/git-facts.js";
import type { Slot } from "../../trees/slots.js";
import { type Change, fileChanges } from "../../trees/tree.js";
import { mirrorTasks, movedTasks, taskStatus } from "../record/mirror.js";
import { type Role, type Run, record, roleOf, spentSoFar } from "../run.js";
import type { AgentEvent, AgentOutcome, AgentRequest } from "./agent.js";
import { toolUse } from "./agent-events.js";
import { type AgentSigns, agentBreaker, nextDeadline, runBreaker } from "./breakers.js";
import { judgeChanges } from "./broken-rules.js";
import { rolePrompt } from "./prompts.js";
import { readReport } from "./report.js";

export interface Attempt {
  readonly task: RunTask;
  readonly role: string;
  readonly purpose: AgentStart["purpose"];
  readonly slot: Slot;
  readonly session: { readonly id: string; readonly agent: string } | null;
  readonly reason: string;
  readonly prompt: (fence: string) => string;
}

/** Runs the agent and records its end. The slot stays with the caller. */
export async function runAgent(run: Run, attempt: Attempt): Promise<AgentEnd> {
  const { task, role: roleId, purpose, slot, session } = attempt;
  const role = purpose === "plan" ? leadRole() : roleOf(run, roleId);
  const agent = `${roleId}-${run.state.agents.size + 1}`;
  const started: AgentStart = {
    agent,
    task: task.id,
    role: roleId,
    purpose,
    mode: session === null ? "fresh" : "resume",
    reason: attempt.reason,
    ...(session === null ? {} : { session: session.id }),
    base: slot.version,
    slot: slot.name,
  };
  record(run, { type: "agent_started", ...started });
  // A continued session keeps the id it is tracked by.
  const tracked = { agentId: session?.agent ?? agent, agentName: roleId };
  await run.events.fire({ type: "subagent_spawn", ...tracked, ...(task.id === 0 ? {} : { taskId: task.id }) });
  if (purpose === "work") await taskStatus(run.project, task.id, "in_progress", run.context.now());
  for (const name of run.secrets.names) record(run, { type: "credential_used", name, purpose: task.title, agent });
  run.context.progress({
    type: "agent_started",
    agent,
    role: roleId,
    task: task.id,
    mode: started.mode,
    reason: attempt.reason,
    message: `${agent}: ${purpose === "diagnose" ? "diagnoses" : purpose === "plan" ? "plans" : "works on"} ${task.id === 0 ? "the request" : `task ${task.id}, ${task.title}`}`,
  });

  const gitBefore = gitFacts(slot.path);
  const request = agentRequest(run, attempt, role, agent);
  const seen = await watch(run, request);
  const git = { before: gitBefore, after: gitFacts(slot.path) };
  const end = finish(run, attempt, { agent, role, seen, git });
  const files = fileChanges(end.changes).map(({ path }) => path);
  await run.events.fire({
    type: "subagent_complete",
    ...tracked,
    lastMessage: end.text.slice(0, 2_000),
    filesTouched: files,
    verifiedByHarness: true,
  });
  record(run, { type: "agent_ended", ...end });
  run.live.delete(agent);
  if (purpose !== "plan") await putTasksRight(run, agent);
  run.context.progress({
    type: "agent_ended",
    agent,
    task: task.id,
    outcome: end.outcome,
    files,
    usage: { tokens: end.usage.tokens, cost_usd: end.usage.costUsd },
    ms: end.ms,
    ...(end.problems.length === 0 ? {} : { problems: end.problems, message: `${agent}: ${end.problems[0]}` }),
  });
  return end;
}

/** A task list that an agent moved is put right; who moved it is on record. */
async function putTasksRight(run: Run, agent: string): Promise<void> {
  const moved = movedTasks(run.project, run.state);
  if (moved.length === 0) return;
  const what = moved.map(({ id, status }) => (id === 0 ? "the task list" : `task ${id} to ${status}`)).join(", ");
  record(run, { type: "issue", message: `${agent} or one beside it moved ${what}; only the harness's own check does` });
  await mirrorTasks(run.project, run.state.plan!, run.state, run.context.now());
}

/** Lead is not in the catalog: it coordinates and plans, and in a run it changes no file. */
function leadRole(): Pick<Role, "capabilities" | "blocked" | "mayEdit" | "mayRunShell"> & { agent: null } {
  const blocked = new Set(["file_creation", "file_modification", "file_deletion", "partial_file_edit"]);
  return { agent: null, capabilities: ["no_file_edit"], blocked, mayEdit: false, mayRunShell: true };
}

type AnyRole = Role | ReturnType<typeof leadRole>;

function agentRequest(run: Run, attempt: Attempt, role: AnyRole, agent: string): AgentRequest {
  const { folder, catalog, runner, secrets } = run;
  const { task, role: roleId, slot, session, purpose } = attempt;
  const own = join(folder.agents, agent);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const body =
    role.agent === null
      ? bodyOf(catalog.coreDir, "skills", catalog.skills.find(({ id }) => id === "nx-plan")!)
      : bodyOf(catalog.coreDir, "agents", role.agent);
  const fence = randomBytes(12).toString("hex");
  const prompts = {
    rolePrompt: secrets.scrub(
      rolePrompt({
        body,
        role: roleId,
        tools: runner.hasTools ? Object.fromEntries(TOOLS.map((name) => [name, runner.toolName(name)])) : {},
        mayEdit: role.mayEdit,
        denied: role.capabilities,
        notes: runner.hasTools ? [reportNote(agent, runner.toolName("artifact_write"))] : [],
      }),
    ),
    taskPrompt: secrets.scrub(attempt.prompt(fence)),
  };
  writeFileSync(join(own, "role.md"), prompts.rolePrompt, { mode: 0o600 });
  writeFileSync(join(own, "prompt.md"), prompts.taskPrompt, { mode: 0o600 });
  const tier = role.agent?.model_tier ?? "high";
  const model = run.options.model ?? modelFor(tier, catalog.config, runner.name) ?? undefined;
  return {
    agent,
    role: roleId,
    task: task.id,
    ...prompts,
    cwd: slot.path,
    home: folder.home,
    env: {
      ...secrets.env,
      NEXUS_PROJECT_DIR: run.project.root,
      NEXUS_HARNESS_ID: run.project.layout.harnessId,
      ...(purpose === "plan" ? {} : { NEXUS_ROLE: roleId }),
      NEXUS_AGENT_ID: agent,
      ...(task.id === 0 ? {} : { NEXUS_TASK_ID: String(task.id) }),
    },
    mayEdit: role.mayEdit,
    mayRunShell: role.mayRunShell,
    capabilities: role.capabilities,
    blocked: role.blocked,
    ...(model === undefined ? {} : { model }),
    ...(session === null ? {} : { resume: session.id }),
    writable: [join(run.project.root, ".nexus")],
    signal: run.halt.signal,
  };
}

const reportNote = (agent: string, tool: string) =>
  `Before your last message, save your report with \`${tool}\` as \`${reportFile(agent)}\`.`;
const reportFile = (agent: string) => `report-${agent}.md`;

interface Seen extends AgentOutcome {
  readonly usage: AgentUsage;
  readonly tools: readonly string[];
  readonly ms: number;
}

/** Follows the agent's events; trips a breaker when its signs say so. */
async function watch(run: Run, request: AgentRequest): Promise<Seen> {
  const { agent } = request;
  const log = join(run.folder.agents, agent, "log.jsonl");
  const startedMs = run.context.now().getTime();
  let signs: AgentSigns = { startedMs, lastEventMs: startedMs, repeats: 0, lastCall: "" };
  let key = "";
  let usage: AgentUsage = { tokens: 0, costUsd: 0 };
  const tools = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    clearTimeout(timer);
    if (run.halt.signal.aborted) return;
    const nowMs = run.context.now().getTime();
    const spent = spentSoFar(run);
    const trip = agentBreaker(signs, nowMs, run.budget) ?? runBreaker(spent, run.budget);
    if (trip !== null) run.halt.abort({ ...trip, agent });
    else timer = setTimeout(check, Math.max(10, nextDeadline(signs, spent, nowMs, run.budget)));
  };
  const onEvent = (event: AgentEvent) => {
    appendFileSync(log, `${run.secrets.scrub(JSON.stringify({ at: run.context.now().toISOString(), ...event }))}\n`);
    signs = { ...signs, lastEventMs: run.context.now().getTime() };
    if (event.type === "session") record(run, { ...event, type: "agent_session", agent, session: event.id });
    if (event.type === "usage") {
      usage = { tokens: event.tokens, costUsd: event.costUsd };
      run.live.set(agent, usage);
    }
    if (event.type === "tool") {
      tools.add(event.name);
      signs = { ...signs, repeats: event.key === key ? signs.repeats + 1 : 1, lastCall: event.name };
      key = event.key;
      const { name, path, ok = true } = event;
      void run.events.fire({
        type: "post_tool_use",
        caller: { agentId: agent, agentName: request.role },
        tool: toolUse(name, path),
        ok,
      });
    }
    if (event.type === "usage")
      run.context.progress({ type: "agent_usage", agent, tokens: event.tokens, cost_usd: event.costUsd });
    else if (event.type !== "message") run.context.progress({ ...event, agent, type: `agent_${event.type}` });
    check();
  };
  check();
  const stopped = (): Seen => ({
    outcome: "stopped",
    text: "",
    usage,
    tools: [...tools],
    ms: run.context.now().getTime() - startedMs,
  });
  // Halted before it began: nothing is started that would only be stopped.
  if (run.halt.signal.aborted) return stopped();
  try {
    const outcome = await run.runner.run(request, onEvent);
    return { ...outcome, usage, tools: [...tools], ms: run.context.now().getTime() - startedMs };
  } catch (error) {
    if (run.halt.signal.aborted) return stopped();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

interface Finish {
  readonly agent: string;
  readonly role: AnyRole;
  readonly seen: Seen;
  readonly git: { readonly before: ReturnType<typeof gitFacts>; readonly after: ReturnType<typeof gitFacts> };
}

/** Looks at what is left in the slot, keeps it, and judges it. A stopped agent's half-done work is nobody's result. */
function finish(run: Run, { task, slot, purpose }: Attempt, { agent, role, seen, git }: Finish): AgentEnd {
  const stopped = run.halt.signal.aborted;
  // Only the run stops an agent. One that was stopped by anything else has failed, or it would be started for ever.
  const outcome = stopped ? "stopped" : seen.outcome === "stopped" ? "failed" : seen.outcome;
  const text = run.secrets.scrub(seen.text);
  writeFileSync(join(run.folder.agents, agent, "report.md"), text, { mode: 0o600 });
  const changes = stopped ? [] : run.slots.changes(slot);
  const path = (change: Change) => join(slot.path, change.path);
  const { problems, notes } = judgeChanges({
    task: { ...task, owner: purpose === "plan" ? "lead" : task.owner },
    mayEdit: role.mayEdit,
    changes,
    constraints: run.constraints,
    isOwnTest: run.isOwnTest,
    linkTarget: (change) => readlinkSync(path(change)),
    leaks: (change) => run.secrets.leaks(readFileSync(path(change))),
    git: stopped ? { before: null, after: null } : git,
    outcome,
    text: stopped ? "stopped" : text,
    error: run.secrets.scrub(seen.error ?? (seen.outcome === "stopped" ? "it was stopped from outside" : "")),
  });
  // What breaks a rule is not kept: it may hold a secret, and nobody will merge it.
  const kept = problems.length === 0 && role.mayEdit ? changes : [];
  run.objects.keepChanges(slot.path, kept);
  const report = readReport(text, run.manifest.acceptance?.checklist ?? []);
  return {
    agent,
    task: task.id,
    outcome,
    text: text.slice(0, 20_000),
    ms: seen.ms,
    usage: seen.usage,
    changes: kept,
    problems: problems.map(run.secrets.scrub),
    tools: seen.tools,
    reported: existsSync(join(run.project.layout.artifacts, reportFile(agent))),
    decisions: report.decisions,
    issues: [...report.issues, ...notes],
    judgements: task.kind === "review" || task.kind === "verify" ? report.judgements : [],
  };
}
