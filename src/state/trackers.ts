// What happened during a session: agents, edits, reopenings. Only the harness writes these, never a tool.
import type { AgentTracker, EditTracker, ReopenTracker, TrackedAgent } from "../schema/tracker.js";
import { agentTracker, editTracker, extensionFile, reopenTracker } from "./documents.js";
import type { Project } from "./project.js";
import type { Store, Transaction } from "./store.js";

export interface Spawn {
  readonly agentName?: string | undefined;
  readonly agentId?: string | undefined;
  /** Kept beside the tracker, whose schema is closed. */
  readonly taskId?: number | undefined;
}

export function trackSpawn(project: Project, { agentName, agentId, taskId }: Spawn, now: Date): Promise<TrackedAgent> {
  const { harnessId } = project.layout;
  return project.store.update((change) => {
    const agent: TrackedAgent = {
      harness_id: harnessId,
      ...(agentName === undefined ? {} : { agent_name: agentName }),
      ...(agentId === undefined ? {} : { agent_id: agentId }),
      started_at: now.toISOString(),
      resume_count: 0,
      status: "running",
    };
    change.write(agentTracker, [...(change.open(agentTracker) ?? []), agent]);
    if (agentId !== undefined && taskId !== undefined) keepTask(change, agentId, taskId);
    return agent;
  });
}

export interface Completion {
  readonly agentId: string;
  readonly lastMessage?: string | undefined;
  readonly filesTouched?: readonly string[] | undefined;
}

/** null when no such agent is tracked. */
export function trackComplete(project: Project, given: Completion, now: Date): Promise<TrackedAgent | null> {
  const { agentId, lastMessage, filesTouched } = given;
  return changeAgent(project, agentId, (agent) => ({
    ...agent,
    status: "completed",
    stopped_at: now.toISOString(),
    ...(lastMessage === undefined ? {} : { last_message: lastMessage }),
    ...(filesTouched === undefined ? {} : { files_touched: [...filesTouched] }),
  }));
}

/** null when no such agent is tracked. */
export function trackResume(project: Project, agentId: string, now: Date): Promise<TrackedAgent | null> {
  return changeAgent(project, agentId, (agent) => ({
    ...agent,
    status: "running",
    resume_count: (agent.resume_count ?? 0) + 1,
    last_resumed_at: now.toISOString(),
  }));
}

function changeAgent(
  project: Project,
  agentId: string,
  change: (agent: TrackedAgent) => TrackedAgent,
): Promise<TrackedAgent | null> {
  return project.store.update((transaction) => {
    const agents: AgentTracker = transaction.open(agentTracker) ?? [];
    const index = agents.findLastIndex(({ agent_id }) => agent_id === agentId);
    if (index < 0) return null;
    const agent = change(agents[index]!);
    transaction.write(agentTracker, agents.with(index, agent));
    return agent;
  });
}

const trackerExtension = extensionFile("agent-tracker");

function keepTask(change: Transaction, agentId: string, taskId: number): void {
  const before = change.open(trackerExtension) ?? {};
  const tasks = { ...(before.tasks as Record<string, number> | undefined), [agentId]: taskId };
  change.write(trackerExtension, { extends: "agent-tracker", ...before, tasks });
}

export function trackedAgents(project: Project): AgentTracker {
  return project.store.read(agentTracker) ?? [];
}

export interface TrackedEdit {
  readonly path: string;
  readonly agentId: string;
  readonly agentName?: string | undefined;
}

export function recordEdits(project: Project, edits: readonly TrackedEdit[], now: Date): Promise<void> {
  return project.store.update((change) => {
    const before = change.open(editTracker) ?? { files: {} };
    const files = { ...(before.files ?? {}) };
    for (const { path, agentId, agentName } of edits) {
      const edit = {
        agent_id: agentId,
        ...(agentName === undefined ? {} : { agent_name: agentName }),
        at: now.toISOString(),
      };
      files[path] = [...(Array.isArray(files[path]) ? files[path] : []), edit];
    }
    change.write(editTracker, { ...before, files });
  });
}

export function editsByFile(project: Project): EditTracker["files"] {
  return project.store.read(editTracker)?.files ?? {};
}

export function recordReopening(change: Transaction, kind: "tasks" | "issues", id: number, now: Date): void {
  const before: ReopenTracker = change.open(reopenTracker) ?? { tasks: {}, issues: {} };
  const list = before[kind] ?? {};
  const at = [...(list[id] ?? []), { at: now.toISOString() }];
  change.write(reopenTracker, { ...before, [kind]: { ...list, [id]: at } });
}

const EDITS_OF_A_LOOP = 3;

/** Some file was edited three times or more. Counts written by other harnesses (`path: 3`) are read too. */
export function hadLoop(store: Store): boolean {
  let tracker: unknown;
  try {
    tracker = store.read(editTracker);
  } catch {
    return false; // A hint, not a record: a broken tracker must not keep a cycle from closing.
  }
  const fields = (tracker ?? {}) as Record<string, unknown>;
  const files = typeof fields.files === "object" && fields.files !== null ? fields.files : fields;
  return Object.values(files).some((edits) => (Array.isArray(edits) ? edits.length : Number(edits)) >= EDITS_OF_A_LOOP);
}
