// Text for a model, built from facts only. Titles and topics come from people, bundles and agents: they are shown on one
// line each, quoted, so that they cannot pass for instructions of the harness.
import type { Facts, Knowledge, PlanFact, TaskFact } from "./facts.js";

/** Hosts cut injected text near 10,000 characters; we cut first, and say how to get the rest. */
export const CONTEXT_LIMIT = 9_500;
const LIST_LIMIT = 40;
const TITLE_LIMIT = 120;

export function limited(text: string, rest: string, limit: number = CONTEXT_LIMIT): string {
  if (text.length <= limit) return text;
  const note = `\n… cut here; ${rest}`;
  return text.slice(0, limit - note.length) + note;
}

export function title(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= TITLE_LIMIT ? line : `${line.slice(0, TITLE_LIMIT - 1)}…`;
}

export function planSummary({ id, topic, issues }: PlanFact): string {
  const pending = issues.filter(({ status }) => status !== "decided");
  const open = pending.slice(0, 5).map((issue) => `#${issue.id} "${title(issue.title)}"`);
  const more = pending.length > open.length ? ` and ${pending.length - open.length} more` : "";
  const rest = pending.length === 0 ? "all decided" : `pending: ${open.join(", ")}${more}`;
  return `Plan ${id} "${title(topic)}": ${issues.length - pending.length} of ${issues.length} issues decided; ${rest}.`;
}

export function taskSummary(tasks: readonly TaskFact[], ready: readonly number[]): string {
  const done = tasks.filter(({ status }) => status === "completed").length;
  const running = tasks.filter(({ status }) => status === "in_progress").length;
  const names = ready
    .slice(0, 5)
    .map((id) => `#${id} "${title(tasks.find((task) => task.id === id)?.title ?? "")}"`)
    .join(", ");
  const more = ready.length > 5 ? ` and ${ready.length - 5} more` : "";
  const pending = tasks.length - done - running;
  return `Tasks: ${tasks.length} in all, ${done} completed, ${running} in progress, ${pending} pending; ready: ${names === "" ? "none" : names + more}.`;
}

/** What could be worked on now, or is said to be; empty when there is nothing. */
export function openList({ tasks, ready }: Pick<Facts, "tasks" | "ready">): string {
  const open = (tasks ?? []).filter(({ id, status }) => status === "in_progress" || ready.includes(id));
  const shown = open.slice(0, 5).map((task) => `#${task.id} "${title(task.title)}" (${task.status.replace("_", " ")})`);
  return `${shown.join(", ")}${open.length > shown.length ? ` and ${open.length - shown.length} more` : ""}`;
}

export function knowledgeCounts({ memory, context, rules }: Knowledge): string | null {
  if (memory.length + context.length + rules.length === 0) return null;
  return `Knowledge files in .nexus/: ${memory.length} in memory/, ${context.length} in context/, ${rules.length} in rules/.`;
}

export function knowledgeIndex({ memory, context, rules }: Knowledge): string | null {
  const paths = [
    ...rules.map((name) => `.nexus/rules/${name}`),
    ...context.map((name) => `.nexus/context/${name}`),
    ...memory.map((name) => `.nexus/memory/${name}`),
  ];
  if (paths.length === 0) return null;
  const shown = paths.slice(0, LIST_LIMIT).map((path) => `- ${path}`);
  if (paths.length > LIST_LIMIT) shown.push(`- and ${paths.length - LIST_LIMIT} more under .nexus/`);
  return ["Project knowledge, to be read when it bears on the work:", ...shown].join("\n");
}

/** Where the session stands, in a few lines, for every message. */
export function statusLines(facts: Facts): string[] {
  const lines: string[] = [];
  if (facts.plan !== null) lines.push(planSummary(facts.plan));
  if (facts.tasks !== null) lines.push(taskSummary(facts.tasks, facts.ready));
  const counts = knowledgeCounts(facts.knowledge);
  if (counts !== null) lines.push(counts);
  return lines;
}

/** Everything a compaction may have taken away, from disk. */
export function snapshot(facts: Facts): string {
  const parts = [
    "Nexus session, restored from its files after the context was compacted.",
    facts.activeSkill === null
      ? "Active skill: none."
      : `Active skill: ${facts.activeSkill}${facts.mode === null ? "" : `, mode ${facts.mode}`}.`,
    facts.plan === null ? "No plan." : planList(facts.plan),
    facts.tasks === null ? "No task list." : taskList(facts.goal, facts.tasks, facts.ready),
    agentList(facts),
    knowledgeIndex(facts.knowledge) ?? "No knowledge files.",
    ...facts.troubles,
  ];
  return limited(
    parts.join("\n\n"),
    `${facts.toolNames.task_list ?? "task_list"} and ${facts.toolNames.plan_status ?? "plan_status"} show the rest`,
  );
}

function planList({ id, topic, issues }: PlanFact): string {
  const rows = issues.slice(0, LIST_LIMIT).map((issue) => {
    const decision = issue.decision === undefined ? "" : `: ${title(issue.decision)}`;
    return `- #${issue.id} ${issue.status} "${title(issue.title)}"${decision}`;
  });
  if (issues.length > LIST_LIMIT) rows.push(`- and ${issues.length - LIST_LIMIT} more`);
  return [`Plan ${id} "${title(topic)}":`, ...rows].join("\n");
}

function taskList(goal: string | null, tasks: readonly TaskFact[], ready: readonly number[]): string {
  // Unfinished work first: when the list is cut, what is done matters least.
  const order = (task: TaskFact) =>
    task.status === "in_progress" ? 0 : ready.includes(task.id) ? 1 : task.status === "pending" ? 2 : 3;
  const sorted = [...tasks].sort((a, b) => order(a) - order(b) || a.id - b.id);
  const rows = sorted.slice(0, LIST_LIMIT).map((task) => {
    const notes = [ready.includes(task.id) ? "ready" : null, task.owner === undefined ? null : `owner ${task.owner}`];
    const tail = notes.filter((note) => note !== null).join(", ");
    return `- #${task.id} ${task.status} "${title(task.title)}"${tail === "" ? "" : ` (${tail})`}`;
  });
  if (tasks.length > LIST_LIMIT) rows.push(`- and ${tasks.length - LIST_LIMIT} more`);
  const head = goal === null || goal === "" ? "Tasks:" : `Tasks, goal "${title(goal)}":`;
  return [head, taskSummary(tasks, ready), ...rows].join("\n");
}

function agentList({ agents, agentTasks }: Facts): string {
  const running = agents.filter(({ status }) => status === "running");
  if (running.length === 0) return "No agents are running.";
  const rows = running.map(({ agent_id = "", agent_name = "agent" }) => {
    const task = agentTasks[agent_id];
    return `- ${agent_name} ${agent_id}${task === undefined ? "" : `, task #${task}`}`;
  });
  return ["Agents running:", ...rows].join("\n");
}

/** A task as it is handed to an agent; absent parts are left out. */
export function handOver({ title: name, context, approach, acceptance }: TaskFact): string {
  const parts = [`TASK: ${name}`];
  if (context !== undefined && context !== "") parts.push(`CONTEXT:\n${context}`);
  if (approach !== undefined && approach !== "") parts.push(`APPROACH:\n${approach}`);
  if (acceptance !== undefined && acceptance !== "") parts.push(`ACCEPTANCE:\n${acceptance}`);
  return parts.join("\n\n");
}

/** The task a hand-over is about: by the number or the title after `TASK:`. */
export function taskNamedIn(prompt: string, tasks: readonly TaskFact[]): TaskFact | undefined {
  const [, number, name = ""] = /^[ \t]*TASK:[ \t]*(?:#(\d+)[ \t]*)?(.*)$/m.exec(prompt) ?? [];
  return tasks.find((task) => String(task.id) === number || (name !== "" && task.title.trim() === name.trim()));
}

export function toolNameList(names: Readonly<Record<string, string>>, only?: readonly string[]): string {
  const rows = Object.entries(names).filter(([name]) => only === undefined || only.includes(name));
  return `Nexus tools here: ${rows.map(([name, own]) => (name === own ? name : `${name} = ${own}`)).join(", ")}.`;
}

/** The names of the tools a text speaks of, where they differ here; null when none does. */
export function mentioned(text: string, names: Readonly<Record<string, string>>): string | null {
  const used = Object.keys(names).filter((name) => text.includes(`\`${name}\``) && names[name] !== name);
  return used.length === 0 ? null : toolNameList(names, used);
}
