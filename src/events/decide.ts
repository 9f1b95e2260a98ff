// The events: typed input and facts in, one decision out. Nothing here reads a file, a clock or a host.
import type {
  ContextCompact,
  LifecycleEvent,
  PostToolUse,
  SessionEnd,
  SessionStart,
  SubagentComplete,
  SubagentSpawn,
  TurnEnd,
} from "../schema/events.js";
import { mayEdit } from "../schema/roles.js";
import {
  CONTEXT_LIMIT,
  handOver,
  knowledgeIndex,
  limited,
  openList,
  snapshot,
  statusLines,
  taskNamedIn,
  toolNameList,
} from "./context.js";
import { allow, type Decision, deny, type Effect } from "./decision.js";
import type { Facts, TaskFact } from "./facts.js";
import { agentNameOf, callerStanding, gate } from "./gate.js";
import { toolLogEntry } from "./tool-log.js";
import { userMessage } from "./user-message.js";

export function decide(event: LifecycleEvent, facts: Facts): Decision {
  switch (event.type) {
    case "session_start":
      return sessionStart(event, facts);
    case "user_message":
      return userMessage(event, facts);
    case "subagent_spawn":
      return subagentSpawn(event, facts);
    case "subagent_complete":
      return subagentComplete(event, facts);
    case "pre_tool_use":
      return gate(event, facts);
    case "post_tool_use":
      return postToolUse(event, facts);
    case "session_end":
      return sessionEnd(event, facts);
    case "context_compact":
      return contextCompact(event, facts);
    case "turn_end":
      return turnEnd(event, facts);
    case "settings_change":
      return settingsChange(facts);
  }
}

function sessionStart({ sessionId, source }: SessionStart, facts: Facts): Decision {
  if (source === "compact") return allow({ context: [snapshot(facts)] });
  const starts = source === "startup" || source === "clear";
  // Another live session of this harness still works with the tracker and the files; they are not left-overs.
  const alone = facts.otherSessions === 0;
  const left = [facts.plan === null ? null : "plan.json", facts.tasks === null ? null : "tasks.json"].filter(
    (name) => name !== null,
  );
  const stale = starts && alone && left.length > 0;
  const warning = `${left.join(" and ")} ${left.length === 1 ? "was" : "were"} left by an earlier session that did not close: go on with it, or close it with task_close`;
  const context = [
    `This project works with Nexus. Files are edited only while a task list exists: [plan] starts planning, [run] carries tasks out, [sync] refreshes context. ${toolNameList(facts.toolNames)}`,
    ...statusLines(facts),
    ...(knowledgeIndex(facts.knowledge) === null ? [] : [knowledgeIndex(facts.knowledge)!]),
    ...(stale ? [`Note: ${warning}.`] : []),
    ...facts.troubles,
  ];
  return allow({
    context: [limited(context.join("\n"), "see .nexus/")],
    warnings: [...(stale ? [warning] : []), ...facts.troubles],
    effects: [{ type: "open_session", sessionId, reset: starts && alone }],
  });
}

function subagentSpawn({ agentId, agentName, taskId, prompt }: SubagentSpawn, facts: Facts): Decision {
  const earlier = facts.agents.find((agent) => agent.agent_id === agentId);
  const task = taskFor({ agentId, agentName, taskId, prompt }, facts);
  const restricted = !mayEdit(callerStanding({ agentId, agentName }, facts));
  const effects: Effect[] = [
    earlier === undefined
      ? { type: "start_agent", agentId, agentName, taskId: task?.id ?? null }
      : { type: "resume_agent", agentId },
  ];
  if (task !== null && earlier !== undefined) effects.push({ type: "link_task", agentId, taskId: task.id });
  effects.push({ type: "watch_agent", agentId, agentName, held: restricted });
  if (restricted) effects.push({ type: "take_snapshot", agentId });
  const reread = earlier?.files_touched ?? [];
  const context = [
    facts.hostDocs.report ?? "Report to Lead with your final message; talk to nobody else.",
    task === null || prompt?.includes("TASK:") === true ? null : `Your task is #${task.id}.\n\n${handOver(task)}`,
    earlier !== undefined && reread.length > 0
      ? `This session is resumed. Read these files again before going on: ${reread.join(", ")}.`
      : null,
    earlier === undefined ? resumeNote(agentName, task, facts) : null,
    restricted ? "You may not change files: what you leave changed is detected and put back." : null,
    toolNameList(facts.toolNames),
    knowledgeIndex(facts.knowledge),
  ].filter((part) => part !== null);
  return allow({ context: [limited(context.join("\n\n"), "see .nexus/")], effects });
}

/** Said when Lead started afresh what could have been resumed; too late for this one, in time for the next. */
function resumeNote(agentName: string, task: TaskFact | null, facts: Facts): string | null {
  const session = facts.resumable(agentName, task);
  return session === null
    ? null
    : `An earlier ${agentName} session (${session.agentId}) could have been resumed: ${session.reason}.`;
}

interface TaskHint {
  readonly agentId: string;
  readonly agentName: string;
  readonly taskId?: number | undefined;
  readonly prompt?: string | undefined;
}

/** The task an agent was started for: named outright, recognised in the hand-over, or the only one it could be. */
export function taskFor(
  { agentId, agentName, taskId, prompt }: TaskHint,
  { tasks, agentTasks, ready }: Facts,
): TaskFact | null {
  if (tasks === null) return null;
  const number = taskId ?? agentTasks[agentId];
  if (number !== undefined) return tasks.find(({ id }) => id === number) ?? null;
  const named = taskNamedIn(prompt ?? "", tasks);
  if (named !== undefined) return named;
  const candidates = tasks.filter(
    ({ id, status, owner, owner_agent_id }) =>
      (owner_agent_id === agentId || owner === agentName) &&
      (status === "in_progress" || (status === "pending" && ready.includes(id))),
  );
  return candidates.length === 1 ? candidates[0]! : null;
}

function subagentComplete(event: SubagentComplete, facts: Facts): Decision {
  const { agentId, agentName, lastMessage, verifiedByHarness = false, interrupted = false } = event;
  const agent = facts.agents.find(({ agent_id }) => agent_id === agentId);
  // A stop of something that never started (something of the host's own) is not ours to record.
  if (agent === undefined) return allow();
  const since = Date.parse(agent.started_at);
  const edited = new Set(
    facts.edits.filter((edit) => edit.agentId === agentId && !(Date.parse(edit.at) < since)).map(({ path }) => path),
  );
  const filesTouched = [...new Set([...(event.filesTouched ?? []), ...edited])];
  // What must be put back comes first: a record that cannot be written keeps nothing else from being done.
  const effects: Effect[] = [];
  const isAtWork = agent.status !== "completed";
  if (isAtWork) effects.push({ type: "check_settings", agentId, agentName });
  if (isAtWork && !mayEdit(callerStanding({ agentId, agentName }, facts))) {
    const others = facts.agents.some((other) => other.agent_id !== agentId && other.status === "running");
    effects.push({ type: "compare_tree", agentId, agentName, revert: !others });
  }
  effects.push({ type: "complete_agent", agentId, lastMessage: lastMessage ?? null, filesTouched });
  const paths = (event.filesTouched ?? []).filter((path) => !edited.has(path));
  if (paths.length > 0) effects.push({ type: "record_edits", paths, agentId, agentName });
  const task = facts.tasks?.find(({ id }) => id === facts.agentTasks[agentId]) ?? null;
  const warnings = interrupted && isAtWork ? [`the ${agentName} role was stopped before its end`] : [];
  if (task !== null && task.status !== "completed" && !verifiedByHarness && !interrupted) {
    const promised = task.acceptance !== undefined && task.acceptance !== "";
    if (!promised) effects.push({ type: "set_task", taskId: task.id, status: "completed" });
    else if (!checkedBy(task, agentId, facts)) {
      if (task.status !== "in_progress") effects.push({ type: "set_task", taskId: task.id, status: "in_progress" });
      warnings.push(
        `task #${task.id} has acceptance that nobody verified: have a tester or reviewer check it, then complete it`,
      );
    }
  }
  return allow({ warnings, effects });
}

/** Whether someone else who checks is already on it. */
function checkedBy(task: TaskFact, doer: string, facts: Facts): boolean {
  return facts.agents.some(
    ({ agent_id = "", agent_name, status }) =>
      agent_id !== doer &&
      (agent_name === "tester" || agent_name === "reviewer") &&
      status === "running" &&
      facts.agentTasks[agent_id] === task.id,
  );
}

function postToolUse({ caller, tool, ok, error }: PostToolUse, facts: Facts): Decision {
  const agentName = agentNameOf(caller, callerStanding(caller, facts), facts);
  const paths = tool.access === "edit" && tool.paths.length > 0 ? tool.paths : [undefined];
  const effects: Effect[] = paths.map((path) => ({
    type: "log_tool",
    entry: toolLogEntry({ caller, tool, agentName }, { ok, error, path }),
    hostTool: tool.name,
  }));
  if (tool.access === "edit" && ok && tool.paths.length > 0)
    effects.push({ type: "record_edits", paths: tool.paths, agentId: caller.agentId ?? null, agentName });
  return allow({ effects });
}

function sessionEnd({ sessionId }: SessionEnd, facts: Facts): Decision {
  const last = facts.otherSessions === 0;
  const open = facts.tasks?.filter(({ status }) => status !== "completed").length ?? 0;
  const warnings: string[] = [];
  if (last && open > 0)
    warnings.push(
      `the session ends with ${open} unfinished ${open === 1 ? "task" : "tasks"}; task_close archives them`,
    );
  if (last && facts.plan !== null)
    warnings.push(`plan ${facts.plan.id} is not archived; task_close keeps it in history`);
  return allow({ warnings, effects: [{ type: "close_session", sessionId, last }] });
}

function contextCompact({ phase }: ContextCompact, facts: Facts): Decision {
  return phase === "after" ? allow({ context: [limited(snapshot(facts), "see .nexus/", CONTEXT_LIMIT)] }) : allow();
}

/** Carrying tasks out, Lead does not stop in the middle without a word: it is told once of each state of the list. */
function turnEnd({ wentOn, background, lastMessage = "" }: TurnEnd, facts: Facts): Decision {
  const open = openList(facts);
  const isAsking = /\?\s*$/.test(lastMessage);
  const isAtWork = (background ?? []).length > 0 || facts.agents.some(({ status }) => status === "running");
  if (facts.activeSkill !== "nx-run" || wentOn || isAtWork || isAsking || open === "" || open === facts.toldOpen)
    return allow();
  return {
    ...deny(
      `tasks are still open and nobody is at work on them: ${open}. Go on, or say what you wait for and end here.`,
    ),
    effects: [{ type: "tell_open", open }],
  };
}

/** Hooks that hold a role must not go while it is at work. */
function settingsChange({ changedSetting }: Facts): Decision {
  const changed = changedSetting();
  if (changed === null) return allow();
  const { path, role } = changed;
  return deny(
    `${path} was changed while the ${role} role is at work: the settings the session has stay until it has ended`,
  );
}
