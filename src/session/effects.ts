// Doing what was decided. Each effect may have something to say to the model or to the person.
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Catalog } from "../catalog/index.js";
import { isSystemError, NutError } from "../errors.js";
import type { Decision, Effect, Facts } from "../events/index.js";
import { makeFolder } from "../files/index.js";
import { daemonCovers, findBwrap, type Sandbox, sandboxCommand } from "../process/index.js";
import type { LifecycleEvent } from "../schema/events.js";
import {
  agentTracker,
  decidePlan,
  extensionFile,
  isRefusal,
  ownFile,
  type Project,
  recordEdits,
  sessionsFile,
  trackResume,
  updateTask,
} from "../state/index.js";
import { keepTree } from "../trees/tree-guard.js";
import {
  acceptSettings,
  checkSettings,
  compareEnded,
  completeAgent,
  guarded,
  lookoutFor,
  reportTree,
  startAgent,
  watchAgent,
} from "./agent-effects.js";
import { configStamp, type GateCache, projectPath, realPath } from "./gate-facts.js";
import { collectMemory, storeMemory, storeRule } from "./knowledge.js";
import { clearLookout, dropSession, keepSession, writeGateCache } from "./lookout.js";
import { isLive } from "./sessions.js";
import { LEAD, type Surroundings } from "./surroundings.js";
import { recordToolUse } from "./tool-log.js";

export interface Applying {
  readonly project: Project;
  readonly catalog: Catalog;
  readonly facts: Facts;
  readonly around: Surroundings;
  readonly event: LifecycleEvent;
}

/** What doing something leaves to be remarks: to the model, to the person. */
export interface Remarks {
  readonly context: string[];
  readonly warnings: string[];
}

/** Things Lead must hear that happened where nothing can be said to Lead; told at the next chance. */
const notices = ownFile("notices.json");

/** The warnings of the decision come first among what is remarks. */
export async function applyEffects(
  { effects, warnings }: Pick<Decision, "effects" | "warnings">,
  applying: Applying,
): Promise<Remarks> {
  const remarks: Remarks = { context: [], warnings: [...warnings] };
  for (const effect of effects) {
    try {
      await apply(effect, applying, remarks);
    } catch (error) {
      // What an agent did to the state or the disk must not keep what else it changed from being put back, nor itself at work.
      const isKnown =
        error instanceof NutError || (isSystemError(error) && applying.event.type === "subagent_complete");
      if (!isKnown || applying.around.looksOut !== true) throw error;
      remarks.warnings.push(error.message);
    }
  }
  const { event, project } = applying;
  if (event.type === "subagent_complete") await keepNotices(project, remarks.warnings);
  else compareEnded(applying, remarks);
  if (hearsLead(event)) remarks.context.push(...(await takeNotices(project)));
  return remarks;
}

function hearsLead(event: LifecycleEvent): boolean {
  return (event.type === "user_message" || event.type === "post_tool_use") && event.caller.agentId === undefined;
}

async function keepNotices(project: Project, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  await project.store.update((change) => {
    const before = change.open(notices)?.lines;
    change.write(notices, { lines: [...(Array.isArray(before) ? before : []), ...lines].slice(-20) });
  });
}

async function takeNotices(project: Project): Promise<string[]> {
  if (!existsSync(notices.path(project.layout))) return [];
  return project.store.update((change) => {
    const lines = change.open(notices)?.lines;
    change.remove([notices.path(project.layout)]);
    return Array.isArray(lines) ? lines.map((line) => `Nexus: ${line}.`) : [];
  });
}

async function apply(effect: Effect, applying: Applying, remarks: Remarks): Promise<void> {
  const { project, around } = applying;
  const now = around.now();
  switch (effect.type) {
    case "open_session":
      return openSession(effect, applying);
    case "close_session":
      return closeSession(effect, applying);
    case "set_skill":
      return project.store.update((change) =>
        change.write(ownFile("session.json"), { skill: effect.skill, mode: effect.mode, since: now.toISOString() }),
      );
    case "tell_open":
      return project.store.update((change) => {
        const session = ownFile("session.json");
        change.write(session, { ...change.open(session), toldOpen: effect.open });
      });
    case "start_agent":
      await startAgent(effect, applying);
      return;
    case "resume_agent":
      await trackResume(project, effect.agentId, now);
      return;
    case "complete_agent":
      return completeAgent(effect, applying, remarks);
    case "watch_agent":
      return watchAgent(effect, applying);
    case "check_settings":
      return checkSettings(effect, applying, remarks);
    case "link_task":
      return linkTask(project, effect.agentId, effect.taskId);
    case "set_task":
      await updateTask(project, { id: effect.taskId, status: effect.status }, now);
      return;
    case "log_tool":
      return recordToolUse(effect, project.layout, around);
    case "record_edits":
      return keepEdits(effect, applying);
    case "take_snapshot":
      return keepTree(guarded(applying), effect.agentId);
    case "compare_tree":
      return reportTree(effect, applying, remarks);
    case "decide_issue":
      return decideIssue(effect, applying, remarks);
    case "store_memory":
      remarks.context.push(`Stored as a lesson in ${storeMemory(project.layout, effect.text, now)}.`);
      return;
    case "store_rule":
      remarks.context.push(
        `Stored as a rule in ${storeRule(project.layout, effect.tag, effect.text)}; it holds from now on.`,
      );
      return;
    case "collect_memory":
      remarks.context.push(...collectMemory(project.layout, now));
      return;
  }
}

async function openSession(
  { sessionId, reset }: Extract<Effect, { type: "open_session" }>,
  applying: Applying,
): Promise<void> {
  const { project, around, catalog } = applying;
  const { layout } = project;
  makeFolder(layout.own);
  const ignore = join(layout.nexus, ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "state/\n", { flag: "wx" });
  const now = around.now();
  const mark = around.process?.() ?? null;
  await project.store.update((change) => {
    const before = change.open(sessionsFile)?.sessions ?? [];
    const live = before.filter((session) => session.session_id !== sessionId && isLive(session, now));
    const session = {
      session_id: sessionId,
      started_at: now.toISOString(),
      ...(mark === null ? {} : { pid: mark.pid }),
      ...(mark?.started === undefined ? {} : { process_started: mark.started }),
    };
    change.write(sessionsFile, { sessions: [...live, session] });
    if (reset || change.open(agentTracker) === null) {
      change.write(agentTracker, []);
      change.remove([join(layout.own, "agent-tracker.extension.json"), join(layout.own, "session.json")]);
    }
    // Older harnesses kept a tracker for everybody here.
    change.remove([join(layout.state, "agent-tracker.json")]);
  });
  if (reset) rmSync(join(layout.own, "trees"), { recursive: true, force: true });
  const lookout = lookoutFor(applying);
  if (lookout === null) return;
  if (reset) clearLookout(lookout, layout.harnessId);
  keepSession(sessionId, layout.harnessId, around.env, realPath(layout.root));
  writeGateCache(lookout, await gateCache(project, catalog, around));
  const tree = guarded(applying).root;
  if (isLarge(tree)) around.prepare?.(tree, spawn);
}

/** Files beyond which reading all of them is worth doing beforehand. */
const LARGE = 5_000;

/** By what git's own list says it holds: its number is in the first bytes. */
function isLarge(tree: string): boolean {
  const index = join(tree, ".git/index");
  if (!existsSync(index)) return false;
  const file = openSync(index, "r");
  try {
    const head = Buffer.alloc(12);
    return readSync(file, head) === head.length && head.readUInt32BE(8) > LARGE;
  } finally {
    closeSync(file);
  }
}

async function gateCache(project: Project, catalog: Catalog, { env }: Surroundings): Promise<GateCache> {
  const { layout } = project;
  // A person may have reasons to do without; the tree is compared all the same.
  const bwrap = env.NEXUS_SANDBOX === "off" ? null : await findBwrap(env, { network: false });
  const root = realPath(layout.root);
  const sandbox: Sandbox = { root: "read-only", mounts: daemonCovers(env, root), network: "host" };
  const shell = [existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh", "-c"];
  return {
    config: configStamp(layout),
    additions: catalog.config.capabilities ?? {},
    sandbox: bwrap === null ? null : [...wordsOf(sandboxCommand(bwrap, sandbox, "{cwd}", env)), ...shell],
  };
}

const wordsOf = ({ program, args }: ReturnType<typeof sandboxCommand>): string[] => [program, ...args];

async function closeSession(
  { sessionId, last }: Extract<Effect, { type: "close_session" }>,
  applying: Applying,
): Promise<void> {
  const { project, around } = applying;
  const { layout } = project;
  const lookout = lookoutFor(applying);
  if (lookout !== null) dropSession(sessionId, layout.harnessId, around.env);
  if (last && lookout !== null) clearLookout(lookout, layout.harnessId);
  if (!existsSync(layout.own)) return;
  await project.store.update((change) => {
    const rest = (change.open(sessionsFile)?.sessions ?? []).filter((session) => session.session_id !== sessionId);
    if (!last) {
      change.write(sessionsFile, { sessions: rest });
      return;
    }
    const ownFiles = [
      "agent-tracker.json",
      "agent-tracker.extension.json",
      "session.json",
      "sessions.json",
      "tool-log.extension.jsonl",
    ];
    change.remove([...ownFiles.map((name) => join(layout.own, name)), join(layout.state, "tool-log.jsonl")]);
  });
  if (last) rmSync(join(layout.own, "trees"), { recursive: true, force: true });
}

function linkTask(project: Project, agentId: string, taskId: number): Promise<void> {
  const extension = extensionFile("agent-tracker");
  return project.store.update((change) => {
    const before = change.open(extension) ?? {};
    change.write(extension, {
      extends: "agent-tracker",
      ...before,
      tasks: { ...(before.tasks as object), [agentId]: taskId },
    });
  });
}

function keepEdits(
  { paths, agentId, agentName }: Extract<Effect, { type: "record_edits" }>,
  applying: Applying,
): Promise<void> {
  const { project, around } = applying;
  // Lead works for the person, who may change settings.
  if (agentId === null) for (const path of paths) acceptSettings(path, applying);
  const who = { agentId: agentId ?? LEAD, agentName: agentName ?? undefined };
  const edits = paths.map((path) => ({ path: projectPath(path, project.root, around), ...who }));
  return recordEdits(project, edits, around.now());
}

async function decideIssue(
  { issueId, text }: Extract<Effect, { type: "decide_issue" }>,
  { project, facts }: Applying,
  remarks: Remarks,
): Promise<void> {
  const pending = facts.plan?.issues.find(({ status }) => status !== "decided");
  const id = issueId ?? pending?.id;
  if (id === undefined) {
    remarks.context.push(
      facts.plan === null
        ? "[d] decided nothing: No active plan session."
        : "[d] decided nothing: every issue is decided already.",
    );
    return;
  }
  const result = await decidePlan(project, { issue_id: id, decision: text });
  if (isRefusal(result)) remarks.context.push(`[d] decided nothing: ${result.error}.`);
  else
    remarks.context.push(
      `[d] decided issue ${id} "${result.issue}": ${text}. ${result.allComplete ? "All issues are decided." : `${result.remaining?.length ?? 0} remain.`}`,
    );
}
