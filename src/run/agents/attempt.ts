// One session of one agent, from its prompt to what it left behind. Everything it says is kept in the agent's own folder.
import { existsSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withEvidence } from "../../acceptance/index.js";
import type { AgentEnd, AgentStart } from "../../schema/journal.js";
import { parseReport, type Report } from "../../schema/report.js";
import type { RunTask } from "../../schema/run.js";
import { shownName } from "../../trees/disk-names.js";
import type { GitFacts } from "../../trees/git-facts.js";
import { type Slot, slotGitFacts } from "../../trees/slots.js";
import { type Change, fileChanges, type TreeEntry } from "../../trees/tree.js";
import { mirrorTasks, movedTasks, taskStatus } from "../record/mirror.js";
import { readAnswer } from "../review/answer.js";
import { type Run, record, roleOf, runnerOf } from "../run.js";
import { getOver, gotOver, untilItMayStart, waitedInside } from "../work/get-over.js";
import type { AgentRunner } from "./agent.js";
import { type AnyRole, agentRequest, leadRole, reportFile, reportKind } from "./agent-request.js";
import { brokenRules } from "./broken-rules.js";
import { readReport, reportText } from "./report.js";
import { type WatchedSession, watchAgent } from "./watch-agent.js";

export interface Attempt {
  readonly task: RunTask;
  readonly role: string;
  readonly purpose: AgentStart["purpose"];
  readonly slot: Slot;
  readonly session: { readonly id: string; readonly agent: string } | null;
  readonly reason: string;
  /** `credentials` are lines for whoever gets it. */
  readonly prompt: (fence: string, credentials: readonly string[]) => string;
}

/** An attempt that has its agent. */
export interface StartedAttempt extends Attempt {
  readonly agent: string;
  readonly runner: AgentRunner;
  /** The agent whose home it lives in: its own, unless it continues a session. */
  readonly home: string;
}

/** Runs agents until one comes to an end of its own. `attempt` is asked anew each time: session and slot may be others. */
export async function runThrough(run: Run, attempt: () => Attempt | Promise<Attempt>): Promise<AgentEnd> {
  for (;;) {
    const next = await attempt();
    const runner = runnerOf(run, next.task);
    await untilItMayStart(run, runner);
    const end = await runAgent(run, next);
    if (end.trouble === undefined) {
      if (end.outcome !== "stopped") gotOver(run, runner);
      return end;
    }
    const { trouble } = end;
    // A session that was only begun cannot be the one that is gone: somebody is waited for, or it would be begun for ever.
    const isNew = trouble.kind === "session" && next.session === null;
    await getOver(run, runner, isNew ? { ...trouble, kind: "transport" } : trouble);
    if (run.halt.signal.aborted) return end;
  }
}

/** Runs the agent and records its end. The slot stays with the caller. */
async function runAgent(run: Run, attempt: Attempt): Promise<AgentEnd> {
  const { task, role: roleId, purpose, slot, session } = attempt;
  const role = purpose === "plan" ? leadRole() : roleOf(run, roleId);
  const agent = `${roleId}-${run.state.agents.size + 1}`;
  const home = session === null ? agent : (run.state.agents.get(session.agent)?.home ?? session.agent);
  const runner = runnerOf(run, task);
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
    ...(home === agent ? {} : { home }),
  };
  record(run, { type: "agent_started", ...started });
  // A continued session keeps the id it is tracked by.
  const trackedAs = { agentId: session?.agent ?? agent, agentName: roleId };
  await run.events.fire({ type: "subagent_spawn", ...trackedAs, ...(task.id === 0 ? {} : { taskId: task.id }) });
  if (purpose === "work") await taskStatus(run.project, task.id, "in_progress", run.context.now());
  const given = await run.secrets.admit(agent, roleId, runner.keys);
  for (const name of given.names) record(run, { type: "credential_used", name, purpose: task.title, agent });
  run.context.progress({
    type: "agent_started",
    agent,
    role: roleId,
    task: task.id,
    mode: started.mode,
    reason: attempt.reason,
    message: `${agent}: ${purpose === "diagnose" ? "diagnoses" : purpose === "plan" ? "plans" : "works on"} ${task.id === 0 ? "the request" : `task ${task.id}, ${task.title}`}`,
  });

  const gitBefore = slotGitFacts(slot);
  const watched = await (async () => {
    try {
      return await watchAgent(run, runner, agentRequest(run, { ...attempt, agent, runner, home }, role, given));
    } finally {
      await given.close();
    }
  })();
  if (watched.waitedFromMs !== null && watched.trouble !== undefined) waitedInside(run, runner, watched.waitedFromMs);
  const git = { before: gitBefore, after: slotGitFacts(slot) };
  const end = finish(run, attempt, { agent, role, session: watched, git });
  const files = fileChanges(end.changes).map(({ path }) => path);
  await run.events.fire({
    type: "subagent_complete",
    ...trackedAs,
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

interface EndOfSession {
  readonly agent: string;
  readonly role: AnyRole;
  readonly session: WatchedSession;
  readonly git: { readonly before: GitFacts | null; readonly after: GitFacts | null };
}

/** Looks at what is left in the slot, and keeps it unless it breaks a rule. A stopped agent's half-done work is nobody's result. */
function finish(run: Run, { task, slot, purpose }: Attempt, { agent, role, session, git }: EndOfSession): AgentEnd {
  // Only the run stops an agent, or a trouble that is not its own. One that was stopped by anything else has failed, or it
  // would be started for ever.
  const trouble = run.halt.signal.aborted ? undefined : session.trouble;
  const stopped = run.halt.signal.aborted || trouble !== undefined;
  const outcome = stopped ? "stopped" : session.outcome === "stopped" ? "failed" : session.outcome;
  const handedIn = reportOf(run, { task, purpose }, session);
  // JSON of another shape than was asked for is words.
  const odd = handedIn === null && session.report !== undefined ? JSON.stringify(session.report) : "";
  const words = run.secrets.scrub([session.text, odd].filter((part) => part !== "").join("\n\n"));
  const text = reportText(words, handedIn);
  writeFileSync(join(run.folder.agents, agent, "report.md"), text, { mode: 0o600 });
  const changes = stopped ? [] : run.slots.changes(slot);
  const path = (change: Change) => join(slot.path, change.path);
  const { problems, notes } = brokenRules({
    task: { ...task, owner: purpose === "plan" ? "lead" : task.owner },
    mayEdit: role.mayEdit,
    changes,
    constraints: run.constraints,
    isOwnTest: run.isOwnTest,
    tooDeep: stopped ? [] : slot.tooDeep,
    unnamed: stopped ? [] : slot.unnamed.map(shownName),
    linkTarget: (change) => readlinkSync(path(change)),
    leaks: (change) => run.secrets.leaks(Buffer.from(change.path)) || run.secrets.leaks(readFileSync(path(change))),
    git: stopped ? { before: null, after: null } : git,
    outcome,
    text: stopped ? "stopped" : text,
    error: run.secrets.scrub(session.error ?? (session.outcome === "stopped" ? "it was stopped from outside" : "")),
  });
  // What breaks a rule is not kept: it may hold a secret, and nobody will merge it.
  const keptChanges = problems.length === 0 && role.mayEdit ? changes : [];
  run.objects.keepChanges(slot.path, keptChanges);
  const report = readReport(words, handedIn);
  return {
    agent,
    task: task.id,
    outcome,
    text: text.slice(0, 20_000),
    ms: session.ms,
    usage: session.usage,
    changes: keptChanges,
    problems: problems.map(run.secrets.scrub),
    tools: session.tools,
    reported: handedIn !== null || existsSync(join(run.project.layout.artifacts, reportFile(agent))),
    decisions: report.decisions,
    issues: [...report.issues, ...notes],
    ...(handedIn === null ? {} : { structured: true as const }),
    ...(session.withoutTools === true ? { withoutTools: true } : {}),
    ...(trouble === undefined ? {} : { trouble: { ...trouble, message: run.secrets.scrub(trouble.message) } }),
    ...(purpose === "work"
      ? answerOf(run, { task, slot, mayEdit: role.mayEdit, words, report: handedIn })
      : { judgements: [] }),
  };
}

interface Reporting {
  readonly task: RunTask;
  readonly slot: Slot;
  readonly mayEdit: boolean;
  readonly words: string;
  readonly report: Report | null;
}

/** What it handed in, without secrets, if that is a report at all. */
function reportOf(run: Run, attempt: Pick<Attempt, "task" | "purpose">, { report }: WatchedSession): Report | null {
  const kind = reportKind(attempt);
  if (kind === undefined || report === undefined) return null;
  return parseReport(kind, JSON.parse(run.secrets.scrub(JSON.stringify(report))));
}

/** What a checking agent says of the work. Only the last message of a review, by a role that could not have done the work. */
function answerOf(
  run: Run,
  { task, slot, mayEdit, words, report }: Reporting,
): Pick<AgentEnd, "judgements" | "verdict"> {
  const checklist = run.manifest.acceptance?.checklist ?? [];
  if (task.kind === "verify") return readAnswer("test", { words, report }, checklist);
  if (task.kind !== "review" || mayEdit) return { judgements: [] };
  const answer = readAnswer("review", { words, report }, checklist);
  const read = (path: string, entry: TreeEntry) => run.objects.read(path, entry);
  const tree = { entries: slot.base.entries, before: run.start.entries, read };
  return { ...answer, judgements: withEvidence(answer.judgements, tree) };
}
