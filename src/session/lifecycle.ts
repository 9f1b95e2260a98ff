// An event becomes facts, facts become a decision, and a decision's effects become state. Used by `nexus hook` inside
// a host and by `nexus run` outside. The gate does not come through here: it has its own, lighter way (gate-facts.ts).
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { bodyOf, type Catalog, findAgent, findSkill, loadCatalog } from "../catalog/index.js";
import { NutError } from "../errors.js";
import { type Decision, decide, type EditFact, type Effect, type Facts, type TaskFact } from "../events/index.js";
import type { LifecycleEvent } from "../schema/events.js";
import {
  type Document,
  editsByFile,
  extensionFile,
  findRoot,
  openProject,
  ownFile,
  type Project,
  planFile,
  sessionsFile,
  summarize,
  tasksFile,
  trackedAgents,
} from "../state/index.js";
import { openFolder } from "../trees/tree-guard.js";
import { lookoutFor } from "./agent-effects.js";
import { applyEffects } from "./effects.js";
import { gateFacts } from "./gate-facts.js";
import { agentRecords, type Lookout } from "./lookout.js";
import { chooseSession } from "./resume-policy.js";
import { otherLiveSessions } from "./sessions.js";
import { changedSetting } from "./settings-watch.js";
import { type HostFace, LEAD, type Surroundings } from "./surroundings.js";

export type { HostFace, Surroundings };

/** Decides and applies. What an effect has to say to the model or the person is added to the decision it returns. */
export async function fire(event: LifecycleEvent, around: Surroundings): Promise<Decision> {
  if (event.type === "subagent_complete" && around.looksOut === true) openAgain(findRoot(around.cwd, around.env));
  const project = around.project ?? openProject(around.cwd, { env: around.env, harnessId: around.host.harnessId });
  const catalog =
    around.catalog ??
    (await loadCatalog({
      ...(around.coreDir === undefined ? {} : { coreDir: around.coreDir }),
      configFile: join(project.layout.nexus, "config.yml"),
    }));
  const facts = await readFacts(event, project, catalog, around);
  const decided = decide(event, facts);
  const decision = { ...decided, effects: decided.effects.filter(({ type }) => around.skips?.has(type) !== true) };
  const remarks = await applyEffects(decision, { project, catalog, facts, around, event });
  // What a tag stored or decided counts in the very answer to the message that carried it.
  const told = decision.effects.some(({ type }) => CHANGES_STATUS.has(type))
    ? decide(event, await readFacts(event, project, catalog, around))
    : decision;
  return {
    ...decision,
    context: [...remarks.context, ...told.context],
    warnings: remarks.warnings,
  };
}

/** Effects of a message's tags after which the plan and the knowledge files are no longer what was read before. */
const CHANGES_STATUS: ReadonlySet<Effect["type"]> = new Set([
  "decide_issue",
  "store_memory",
  "store_rule",
  "collect_memory",
]);

/** An agent may have shut the project itself, and then nothing in it can be compared. */
function openAgain(root: string): void {
  for (const folder of [root, join(root, ".nexus"), join(root, ".nexus/state")]) openFolder(folder);
}

async function readFacts(
  event: LifecycleEvent,
  project: Project,
  catalog: Catalog,
  around: Surroundings,
): Promise<Facts> {
  const troubles: string[] = [];
  const read = <T>(document: Document<T>): T | null => {
    try {
      return project.store.read(document);
    } catch (error) {
      if (!(error instanceof NutError)) throw error;
      troubles.push(`${document.name} cannot be read and is left as it is: ${error.message}`);
      return null;
    }
  };
  const gate = await gateFacts(around);
  const file = read(tasksFile);
  const plan = read(planFile);
  const session = read(ownFile("session.json"));
  const agents = withRecorded(
    safely(() => trackedAgents(project), [], troubles),
    { project, around },
  );
  const edits = editList(safely(() => editsByFile(project), {}, troubles));
  const agentTasks = (read(extensionFile("agent-tracker"))?.tasks ?? {}) as Record<string, number>;
  // Getters of the gate's facts must stay getters: they may throw where a gate denies and we go on.
  return Object.defineProperties({} as Facts, {
    ...Object.getOwnPropertyDescriptors(gate),
    ...Object.getOwnPropertyDescriptors({
      tracked: Object.fromEntries(
        agents.flatMap(({ agent_id, agent_name }) => (agent_id && agent_name ? [[agent_id, agent_name]] : [])),
      ),
      activeSkill: typeof session?.skill === "string" ? session.skill : null,
      mode: typeof session?.mode === "string" ? session.mode : null,
      toldOpen: typeof session?.toldOpen === "string" ? session.toldOpen : null,
      changedSetting: () => settingChangedUnder(lookoutFor({ project, around })),
      plan,
      goal: file?.goal ?? null,
      tasks: file?.tasks ?? null,
      ready: file === null ? [] : summarize(file.tasks).ready,
      agents,
      agentTasks,
      edits,
      knowledge: {
        memory: knowledgeFiles(project, "memory"),
        context: knowledgeFiles(project, "context"),
        rules: knowledgeFiles(project, "rules"),
      },
      otherSessions: otherLiveSessions(read(sessionsFile)?.sessions ?? [], event.sessionId, around.now()),
      ...catalogFacts(catalog),
      resumable: (name: string, task: TaskFact | null) =>
        resumable(name, task, { catalog, agents, edits, canResume: around.host.canResume }),
      toolNames: around.host.toolNames,
      hostDocs: around.host.docs,
      troubles,
    }),
  });
}

/** An agent that was taken out of the tracker, or made another in it, is still known where no agent works. */
function withRecorded(tracked: Facts["agents"], where: Parameters<typeof lookoutFor>[0]): Facts["agents"] {
  const lookout = lookoutFor(where);
  const records = lookout === null ? [] : agentRecords(lookout);
  const names = new Map(records.map(({ agentId, agentName }) => [agentId, agentName]));
  const missing = records.filter(({ agentId }) => !tracked.some(({ agent_id }) => agent_id === agentId));
  return [
    ...tracked.map((agent) => {
      const agent_name = names.get(agent.agent_id ?? "");
      return agent_name === undefined ? agent : { ...agent, agent_name, status: "running" };
    }),
    ...missing.map(({ agentId, agentName, startedAt }) => ({
      agent_id: agentId,
      agent_name: agentName,
      status: "running",
      started_at: startedAt,
    })),
  ];
}

function settingChangedUnder(lookout: Lookout | null): ReturnType<Facts["changedSetting"]> {
  for (const { agentName, watched } of lookout === null ? [] : agentRecords(lookout)) {
    const path = changedSetting(watched);
    if (path !== null) return { path, role: agentName };
  }
  return null;
}

function catalogFacts(catalog: Catalog) {
  return {
    tags: catalog.tags.map(({ id, type, skill, handler, variants = [] }) => ({ id, type, skill, handler, variants })),
    skill: (id: string) => {
      const entry = findSkill(catalog, id);
      if (entry === null) return null;
      return { id, body: bodyOf(catalog.coreDir, "skills", entry), docs: entry.harness_docs_refs ?? [] };
    },
  };
}

function safely<T>(read: () => T, otherwise: T, troubles: string[]): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof NutError)) throw error;
    troubles.push(`${error.message}; left as it is`);
    return otherwise;
  }
}

function editList(files: Readonly<Record<string, unknown>>): EditFact[] {
  return Object.entries(files).flatMap(([path, edits]) =>
    (Array.isArray(edits) ? edits : []).map((edit: { agent_id?: unknown; at?: unknown }) => ({
      path,
      agentId: typeof edit.agent_id === "string" && edit.agent_id !== LEAD ? edit.agent_id : null,
      at: String(edit.at ?? ""),
    })),
  );
}

function resumable(
  name: string,
  task: TaskFact | null,
  {
    catalog,
    agents,
    edits,
    canResume,
  }: { catalog: Catalog; agents: Facts["agents"]; edits: readonly EditFact[]; canResume: boolean },
) {
  const tier = findAgent(catalog, name)?.resume_tier;
  if (tier === undefined) return null;
  const earlier = agents
    .filter(
      ({ agent_name, status, agent_id }) => agent_name === name && status === "completed" && agent_id !== undefined,
    )
    .map(({ agent_id = "", files_touched = [], stopped_at = "" }) => ({
      agent: name,
      session: agent_id,
      task: 0,
      files: files_touched,
      editedSince: edits.some(
        ({ path, agentId, at }) => agentId !== agent_id && at > stopped_at && files_touched.includes(path),
      ),
    }));
  const policy = task?.owner_reuse_policy as "fresh" | "resume" | "resume_if_same_artifact" | undefined;
  const files = earlier.at(-1)?.files ?? [];
  const { session, reason } = chooseSession({
    tier: tier as "persistent" | "bounded" | "ephemeral",
    earlier,
    files,
    canResume,
    ...(policy === undefined ? {} : { policy }),
  });
  return session === null ? null : { agentId: session.session, reason };
}

function knowledgeFiles(project: Project, kind: "memory" | "context" | "rules"): string[] {
  try {
    return readdirSync(join(project.layout.nexus, kind))
      .filter((name) => name.endsWith(".md"))
      .sort();
  } catch {
    return [];
  }
}
