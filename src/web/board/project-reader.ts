// One project as the board sees it. Takes no lock and writes nothing; a file that cannot be read is a problem to show,
// not a reason to stop.
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { NutError } from "../../errors.js";
import {
  agentTracker,
  editTracker,
  extensionFile,
  historyFile,
  neverReady,
  openProject,
  type Project,
  planFile,
  reopenTracker,
  summarize,
  tasksFile,
} from "../../state/index.js";
import type {
  AgentRow,
  ArtifactRow,
  LogRow,
  PlanView,
  Problem,
  ProjectView,
  SectionName,
  Sections,
  TasksView,
} from "./model.js";
import { RunFollower } from "./run-rows.js";

const SECTIONS: readonly SectionName[] = ["plan", "tasks", "agents", "log", "artifacts", "runs", "history"];
const LOG_BYTES = 128 * 1024;
const LOG_LINES = 300;
const MOST_AGENTS = 500;
const MOST_ARTIFACTS = 500;

export interface Reading {
  readonly section: SectionName;
  readonly value: Sections[SectionName];
  readonly problem: Problem | null;
}

export class ProjectReader {
  readonly id: number;
  readonly root: string;
  /** As the page calls it. */
  name: string;
  readonly #project: Project;
  readonly #runs: RunFollower;
  readonly #signatures = new Map<SectionName, string>();

  /** `heard`: something was read in the background. */
  constructor(id: number, folder: string, heard: () => void = () => {}) {
    this.id = id;
    // The board aggregates every harness: whatever the environment names, it is not this reader's own.
    this.#project = openProject(folder, { env: {} });
    this.root = this.#project.root;
    this.name = basename(this.root);
    this.#runs = new RunFollower(this.root, heard);
  }

  /** Everything, whatever changed. */
  whole(): ProjectView {
    const problems: Partial<Record<SectionName, Problem>> = {};
    const values: Record<string, unknown> = {};
    for (const section of SECTIONS) {
      const { value, problem } = this.#read(section);
      values[section] = value;
      if (problem !== null) problems[section] = problem;
    }
    const { id, root, name } = this;
    return { id, root, name, branch: this.#branch(), problems, ...(values as unknown as Sections) };
  }

  /** What may wait for a person. */
  asked(): Pick<Sections, "plan" | "runs"> {
    return { plan: this.#read("plan").value as PlanView | null, runs: this.#read("runs").value as Sections["runs"] };
  }

  /** The sections whose files changed since the last call. */
  changes(): Reading[] {
    return SECTIONS.filter((section) => {
      const now = this.#signature(section);
      const before = this.#signatures.get(section);
      this.#signatures.set(section, now);
      return before !== undefined && before !== now;
    }).map((section) => this.#read(section));
  }

  /** Folders in which something may appear. */
  folders(): string[] {
    const { nexus, state, artifacts } = this.#project.layout;
    const runs = this.#runs
      .ids()
      .slice(0, 3)
      .flatMap((id) => this.#runs.folders(id));
    return [
      this.root,
      nexus,
      state,
      artifacts,
      ...this.#harnesses().map((name) => join(state, name)),
      this.#runs.folder,
      ...runs,
    ];
  }

  #branch(): string {
    try {
      return this.#project.branch();
    } catch {
      return "";
    }
  }

  #read(section: SectionName): Reading {
    try {
      return { section, value: this.#value(section), problem: null };
    } catch (error) {
      if (!(error instanceof NutError)) throw error;
      return { section, value: EMPTY[section], problem: { message: error.message, fix: error.hint ?? "" } };
    }
  }

  #value(section: SectionName): Sections[SectionName] {
    switch (section) {
      case "plan":
        return this.#plan();
      case "tasks":
        return this.#tasks();
      case "agents":
        return this.#agents();
      case "log":
        return toolLog(join(this.#project.layout.state, "tool-log.jsonl"));
      case "artifacts":
        return artifactRows(this.#project.layout.artifacts);
      case "runs":
        return this.#runs.rows();
      case "history":
        return { total: this.#project.store.read(historyFile)?.cycles.length ?? 0 };
    }
  }

  #plan(): PlanView | null {
    const plan = this.#project.store.read(planFile);
    if (plan === null) return null;
    const reopened = this.#reopened("issues");
    return {
      id: plan.id,
      topic: shorten(plan.topic, 500),
      research: shorten(plan.research_summary ?? "", 4_000),
      createdAt: plan.created_at ?? "",
      issues: plan.issues.map(({ id, title, status, decision, how_summary: how }) => ({
        id,
        title: shorten(title, 500),
        status,
        decision: shorten(decision ?? "", 4_000),
        how: Object.entries(how ?? {}).map(([role, said]) => ({ role, said: shorten(String(said), 2_000) })),
        reopened: reopened(id),
      })),
    };
  }

  #tasks(): TasksView | null {
    const file = this.#project.store.read(tasksFile);
    if (file === null) return null;
    const ready = new Set(summarize(file.tasks).ready);
    const never = new Map(neverReady(file.tasks).map(({ id, why }) => [id, why]));
    const reopened = this.#reopened("tasks");
    const stage = ({ id, status }: { id: number; status: string }) =>
      status === "completed"
        ? "done"
        : status === "in_progress"
          ? "running"
          : ready.has(id)
            ? "ready"
            : never.has(id)
              ? "never"
              : "waiting";
    return {
      goal: shorten(file.goal ?? "", 1_000),
      decisions: (file.decisions ?? []).map((text) => shorten(String(text), 1_000)),
      rows: file.tasks.map((task) => ({
        id: task.id,
        title: shorten(task.title, 300),
        stage: stage(task),
        deps: task.deps ?? [],
        owner: task.owner ?? "",
        issue: task.plan_issue ?? null,
        context: shorten(task.context ?? "", 400),
        approach: shorten(task.approach ?? "", 400),
        acceptance: shorten(task.acceptance ?? "", 400),
        risk: shorten(task.risk ?? "", 200),
        reopened: reopened(task.id),
        failures: 0,
        why: never.get(task.id) ?? "",
      })),
    };
  }

  /** How often something went back to open. A broken tracker hides a number, not the plan. */
  #reopened(kind: "tasks" | "issues"): (id: number) => number {
    try {
      const list: unknown = this.#project.store.read(reopenTracker)?.[kind];
      const counts = (list ?? {}) as Record<string, unknown>;
      return (id) => (Array.isArray(counts[id]) ? (counts[id] as unknown[]).length : 0);
    } catch {
      return () => 0;
    }
  }

  #agents(): AgentRow[] {
    const edits = this.#edits();
    const rows = this.#harnesses().flatMap((name) => this.#agentsOf(name, edits));
    rows.sort((a, b) => Number(b.running) - Number(a.running) || (a.startedAt < b.startedAt ? 1 : -1));
    return rows.slice(0, MOST_AGENTS);
  }

  #agentsOf(name: string, edits: ReadonlyMap<string, Set<string>>): AgentRow[] {
    const { store } = openProject(this.root, { env: {}, harnessId: name });
    const tasks = (store.read(extensionFile("agent-tracker"))?.tasks ?? {}) as Record<string, number>;
    return (store.read(agentTracker) ?? []).map((agent) => {
      const id = String(agent.agent_id ?? "");
      const files = [...new Set([...(agent.files_touched ?? []), ...(edits.get(id) ?? [])])];
      return {
        harness: name,
        id,
        role: String(agent.agent_name ?? "agent"),
        running: agent.status !== "completed",
        startedAt: String(agent.started_at ?? ""),
        stoppedAt: String(agent.stopped_at ?? ""),
        resumed: Number(agent.resume_count ?? 0),
        task: Object.hasOwn(tasks, id) ? Number(tasks[id]) : null,
        files: files.slice(0, 200),
        lastMessage: shorten(String(agent.last_message ?? ""), 1_000),
      };
    });
  }

  #edits(): Map<string, Set<string>> {
    const pathsByAgent = new Map<string, Set<string>>();
    let files: Record<string, unknown> = {};
    try {
      files = (this.#project.store.read(editTracker)?.files ?? {}) as Record<string, unknown>;
    } catch {
      // The list of agents matters more than what they touched.
    }
    for (const [path, edits] of Object.entries(files)) {
      for (const edit of Array.isArray(edits) ? edits : []) {
        const agent = String((edit as { agent_id?: unknown } | null)?.agent_id ?? "");
        pathsByAgent.set(agent, (pathsByAgent.get(agent) ?? new Set()).add(path));
      }
    }
    return pathsByAgent;
  }

  /** `.nexus/state/<harness>/agent-tracker.json`, whichever harnesses there are. */
  #harnesses(): string[] {
    try {
      return readdirSync(this.#project.layout.state, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && /^[a-z][a-z0-9-]*$/.test(entry.name) && entry.name !== "artifacts")
        .map(({ name }) => name);
    } catch {
      return [];
    }
  }

  #signature(section: SectionName): string {
    const { nexus, state, artifacts } = this.#project.layout;
    const of = (...names: string[]) => names.map(stamp).join(" ");
    const folders = this.#harnesses().map((name) => join(state, name));
    switch (section) {
      case "plan":
        return of(join(state, "plan.json"), join(state, "reopen-tracker.json"));
      case "tasks":
        return of(join(state, "tasks.json"), join(state, "reopen-tracker.json"));
      case "agents":
        return of(
          join(state, "edit-tracker.json"),
          ...folders.flatMap((folder) => [
            join(folder, "agent-tracker.json"),
            join(folder, "agent-tracker.extension.json"),
          ]),
        );
      case "log":
        return of(join(state, "tool-log.jsonl"));
      case "artifacts":
        return of(artifacts);
      case "history":
        return of(join(nexus, "history.json"));
      case "runs":
        return this.#runSignature();
    }
  }

  #runSignature(): string {
    const ids = this.#runs.ids();
    return ids.map((id) => `${id} ${this.#runs.signature(id)}`).join("\n");
  }
}

const EMPTY: Sections = {
  plan: null,
  tasks: null,
  agents: [],
  log: [],
  artifacts: [],
  runs: [],
  history: { total: 0 },
};

function stamp(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "-" : `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
}

/** The last lines of the log; half a line at its end is not one yet. */
function toolLog(path: string): LogRow[] {
  const text = tail(path);
  return text
    .split("\n")
    .slice(0, -1)
    .slice(-LOG_LINES)
    .flatMap((line): LogRow[] => {
      try {
        const row = JSON.parse(line) as Record<string, unknown>;
        return [
          {
            at: String(row.at ?? ""),
            agent: String(row.agent_name ?? row.agent_id ?? "lead"),
            tool: shorten(String(row.tool ?? ""), 100),
            path: shorten(String(row.path ?? ""), 500),
            ok: row.ok !== false,
            error: shorten(String(row.error ?? ""), 500),
          },
        ];
      } catch {
        return [];
      }
    })
    .reverse();
}

function tail(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(file);
    const from = Math.max(0, size - LOG_BYTES);
    const buffer = Buffer.alloc(size - from);
    const text = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from)).toString("utf8");
    return from === 0 ? text : text.slice(text.indexOf("\n") + 1);
  } finally {
    closeSync(file);
  }
}

function artifactRows(folder: string): ArtifactRow[] {
  const rows: ArtifactRow[] = [];
  const visit = (base: string, depth: number) => {
    for (const entry of readFolder(join(folder, base))) {
      const name = base === "" ? entry.name : `${base}/${entry.name}`;
      if (entry.isDirectory() && depth < 6) visit(name, depth + 1);
      if (!entry.isFile() || rows.length >= MOST_ARTIFACTS) continue;
      const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
      if (stats !== undefined) rows.push({ name, size: stats.size, at: stats.mtime.toISOString() });
    }
  };
  visit("", 0);
  return rows.sort((a, b) => (a.at < b.at ? 1 : -1));
}

function readFolder(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

const shorten = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
