// What is done when agents start and end: records inside the project and outside of it, and what is put back.
import { join } from "node:path";
import type { Effect } from "../events/index.js";
import { findTop, linkedTrees, trackComplete, trackSpawn } from "../state/index.js";
import { changesSince, compareTree, type Guarded, remember } from "../trees/tree-guard.js";
import type { Applying, Remarks } from "./effects.js";
import { placesOf, realPath } from "./gate-facts.js";
import { agentRecords, endAgent, type Lookout, lookoutOf, readAgent, settingsFolder, writeAgent } from "./lookout.js";
import { acceptChange, putSettingsBack, watchSettings } from "./settings-watch.js";
import type { Surroundings } from "./surroundings.js";

/** null where nothing is recorded outside the project: in a run, or without a home. */
export function lookoutFor({ project, around }: Pick<Applying, "project" | "around">): Lookout | null {
  return around.looksOut === true ? lookoutOf(project.layout.root, project.layout.harnessId, around.env) : null;
}

/** The work tree something happens in: the project's own, or one that is linked to it. */
function treeAt(root: string, { cwd, env }: Pick<Surroundings, "cwd" | "env">): string {
  const top = realPath(findTop(cwd, env));
  return linkedTrees(root).some((tree) => realPath(tree) === top) ? top : root;
}

/** Trees are remembered outside the project where that is possible. */
export function guarded(applying: Applying): Guarded {
  const { own, root: project } = applying.project.layout;
  const root = treeAt(project, applying.around);
  const lookout = lookoutFor(applying);
  if (lookout === null) return { root, own, trees: join(own, "trees"), base: join(own, "trees/.base"), ended: null };
  const { trees, folder, base } = lookout;
  return { root, own, trees, base: base(root), ended: join(folder, "ended.json") };
}

/** What the next role that may not edit would otherwise have to read first. */
export function rememberTree(tree: string, harnessId: string, env: Surroundings["env"]): void {
  const lookout = lookoutOf(tree, harnessId, env);
  if (lookout !== null) remember({ root: tree, trees: lookout.trees, base: lookout.base(tree) });
}

export async function startAgent(
  { agentId, agentName, taskId }: Extract<Effect, { type: "start_agent" }>,
  { project, around }: Applying,
): Promise<void> {
  await trackSpawn(project, { agentId, agentName: roleName(agentName), taskId: taskId ?? undefined }, around.now());
}

/** The tracker's schema wants a plain name; a host may prefix it with a plugin's. */
function roleName(name: string): string | undefined {
  return /^[a-z][a-z0-9-]*$/.test(name) ? name : undefined;
}

/** Outside the project: who started, and how the settings of hosts were. */
export function watchAgent(
  { agentId, agentName, held }: Extract<Effect, { type: "watch_agent" }>,
  applying: Applying,
): void {
  const lookout = lookoutFor(applying);
  if (lookout === null) return;
  // Announced again while it works, it has not begun anew.
  const record = readAgent(lookout, agentId) ?? {
    agentId,
    agentName,
    sessionId: applying.event.sessionId,
    startedAt: applying.around.now().toISOString(),
    watched: watched(lookout, agentId, applying),
  };
  writeAgent(lookout, record, { held });
}

function watched(lookout: Lookout, agentId: string, { project, around }: Applying) {
  const home = around.env.HOME ?? around.env.USERPROFILE ?? null;
  const { root } = project.layout;
  const place = { roots: [...new Set([root, treeAt(root, around)])], home };
  return watchSettings(around.host.watched ?? [], place, settingsFolder(lookout, agentId));
}

/** What Lead changed is how that setting is from now on. */
export function acceptSettings(path: string, applying: Applying): void {
  const lookout = lookoutFor(applying);
  if (lookout === null) return;
  const { cwd, env } = applying.around;
  const place = placesOf(path, cwd, env.HOME ?? null).at(-1)!;
  for (const record of agentRecords(lookout)) {
    const folder = settingsFolder(lookout, record.agentId);
    const watchedNow = acceptChange(record.watched, place, folder);
    if (watchedNow !== null) writeAgent(lookout, { ...record, watched: watchedNow }, { held: false });
  }
}

export function checkSettings(
  { agentId, agentName }: Extract<Effect, { type: "check_settings" }>,
  applying: Applying,
  remarks: Remarks,
): void {
  const lookout = lookoutFor(applying);
  const record = lookout === null ? null : readAgent(lookout, agentId);
  if (lookout === null) return;
  if (record === null) {
    remarks.warnings.push(
      `what was recorded when the ${agentName} role started is gone: look at the settings of your hosts`,
    );
    return;
  }
  const copies = join(applying.project.layout.own, "reverted", `settings-${Date.now()}`);
  const changed = putSettingsBack(record.watched, settingsFolder(lookout, agentId), copies);
  endAgent(lookout, record);
  if (changed.length > 0)
    remarks.warnings.push(
      `settings were changed while the ${agentName} role was at work, which no role may: ${list(changed)}: put back, the other version is kept in ${copies}`,
    );
}

export async function completeAgent(
  { agentId, lastMessage, filesTouched }: Extract<Effect, { type: "complete_agent" }>,
  { project, facts, around }: Applying,
  remarks: Remarks,
): Promise<void> {
  const complete = () =>
    trackComplete(project, { agentId, lastMessage: lastMessage?.slice(0, 4_000), filesTouched }, around.now());
  if ((await complete()) !== null) return;
  const agent = facts.agents.find(({ agent_id }) => agent_id === agentId);
  if (agent === undefined) return;
  await trackSpawn(project, { agentId, agentName: agent.agent_name }, new Date(agent.started_at));
  await complete();
  remarks.warnings.push(
    `agent-tracker.json had lost the ${agent.agent_name ?? "agent"} ${agentId}, which only Nexus may change: put back`,
  );
}

export function reportTree(
  { agentId, agentName, revert }: Extract<Effect, { type: "compare_tree" }>,
  applying: Applying,
  remarks: Remarks,
): void {
  const { facts } = applying;
  const started = facts.agents.find(({ agent_id }) => agent_id === agentId)?.started_at ?? "";
  const others = new Set(
    facts.edits.filter((edit) => edit.agentId !== agentId && edit.at >= started).map(({ path }) => path),
  );
  const comparison = compareTree(guarded(applying), agentId, { revert, mine: (path) => !others.has(path) });
  if (comparison === null) {
    remarks.warnings.push(
      `how the tree was when the ${agentName} role began is not on record, so nobody can tell what it changed: look at the project before you trust it`,
    );
    return;
  }
  if (comparison.changed.length === 0) return;
  if (comparison.reverted.length > 0) {
    remarks.warnings.push(
      `the ${agentName} role may not change files, but changed ${list(comparison.reverted)}: put back, its version is kept in ${comparison.copy}`,
    );
  }
  const left = comparison.changed.filter((path) => !comparison.reverted.includes(path) && !others.has(path));
  if (left.length > 0)
    remarks.warnings.push(
      `files changed while the ${agentName} role was at work, by it or by someone else: ${list(left)}; look at them`,
    );
}

/** How long after an agent's end a change may be something it left running. Later, people are likelier. */
const LEFT_RUNNING_MS = 10 * 60 * 1000;

/** A process that outlives its agent writes when the tree was compared already: it is looked at again with later events. */
export function compareEnded(applying: Applying, remarks: Remarks): void {
  const { event, around, facts } = applying;
  const { base, ended } = guarded(applying);
  if (ended === null) return;
  const couldWrite = event.type === "post_tool_use" && !["read", "nexus", "spawn"].includes(event.tool.access);
  const others = new Set(facts.edits.map(({ path }) => path));
  const changed = changesSince(base, ended, {
    // Once somebody works on, nobody can tell whose a change is.
    forget: couldWrite || event.type === "subagent_spawn",
    sinceMs: around.now().getTime() - LEFT_RUNNING_MS,
  });
  const left = changed.filter((path) => !others.has(path));
  if (left.length > 0)
    remarks.warnings.push(
      `files changed after a role that may not edit had ended, by something it left running or by someone else: ${list(left)}; look at them`,
    );
}

const list = (paths: readonly string[]): string =>
  `${paths.slice(0, 10).join(", ")}${paths.length > 10 ? ` and ${paths.length - 10} more` : ""}`;
