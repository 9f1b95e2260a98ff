// One model of tasks, agents and activity, whether a run or the project's own harnesses are at work.
import type { AgentRow, LogRow, ProjectView, RunRow, TasksView } from "../../board/model.js";
import { type Params, setParam } from "../shell.js";
import { visible } from "../visible.js";

export interface Scope {
  /** null: the project itself. */
  readonly run: RunRow | null;
  readonly tasks: TasksView | null;
  readonly agents: readonly AgentRow[];
  readonly log: readonly LogRow[];
}

/** `?of=project`, `?of=<run>`; without it a run that is at work, else whichever has something to show. */
export function scopeOf(project: ProjectView, { of = "" }: Params): Scope {
  const latest = project.runs[0];
  const isAtWork = latest?.status === "running";
  const isBare = (project.tasks?.rows.length ?? 0) === 0 && project.agents.length === 0;
  const asked = project.runs.find(({ id }) => id === of);
  const run = of === "project" ? null : (asked ?? (latest !== undefined && (isAtWork || isBare) ? latest : null));
  if (run === null) return { run, tasks: project.tasks, agents: project.agents, log: project.log };
  return { run, tasks: run.tasks, agents: agentsOf(run), log: logOf(run) };
}

/** Everybody at work, wherever: of every run, and of the project's harnesses. */
export function atWork(project: ProjectView): AgentRow[] {
  return [...project.runs.flatMap(agentsOf), ...project.agents].filter(({ running }) => running);
}

/** What was denied or failed, newest first: by the project's harnesses and in its latest run. */
export function denials(project: ProjectView): LogRow[] {
  return [...project.log, ...project.runs.slice(0, 1).flatMap(logOf)]
    .filter(({ ok }) => !ok)
    .sort((a, b) => (a.at < b.at ? 1 : -1));
}

function agentsOf(run: RunRow): AgentRow[] {
  return run.sessions
    .map((session) => ({
      harness: `run ${run.id}`,
      id: session.agent,
      role: session.role,
      running: session.outcome === "",
      startedAt: session.startedAt,
      stoppedAt: session.endedAt,
      resumed: 0,
      task: session.task === 0 ? null : session.task,
      files: session.files.map(({ path }) => path),
      lastMessage: session.problems.length > 0 ? `refused: ${session.problems.join("; ")}` : session.said,
    }))
    .reverse();
}

function logOf(run: RunRow): LogRow[] {
  return run.marks
    .map(({ at, kind, text, agent, task }) => ({
      at,
      agent: agent || (task === null ? "the harness" : `task ${task}`),
      tool: kind,
      path: kind === "refusal" ? "" : text,
      ok: kind !== "refusal",
      error: kind === "refusal" ? text : "",
    }))
    .reverse();
}

export function ScopeTabs({ project, scope }: { project: ProjectView; scope: Scope }) {
  if (project.runs.length === 0) return null;
  const shown = scope.run ?? project.runs[0]!;
  return (
    <div class="tabs" role="group" aria-label="of what">
      <button type="button" aria-pressed={scope.run !== null} onClick={() => setParam("of", shown.id)}>
        this run: {visible(shown.title || shown.id)}
      </button>
      <button type="button" aria-pressed={scope.run === null} onClick={() => setParam("of", "project")}>
        this project
      </button>
    </div>
  );
}
