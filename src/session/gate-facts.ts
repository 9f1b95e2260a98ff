// What a gate must know, read without a lock, a schema library or a parser for YAML: it runs before every tool call.
// Anything that cannot be read is thrown; the caller denies.
import { existsSync, lstatSync, readFileSync, readlinkSync as readlink, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { assemble, readManifestFast, roleLimits } from "../catalog/index.js";
import { type GateFacts, insideProject } from "../events/index.js";
import { roleIn } from "../schema/roles.js";
import { findRoot, type Layout, layoutOf, linkedTrees } from "../state/index.js";
import {
  type AgentRecord,
  agentRecords,
  isRemembered,
  type Lookout,
  lookoutOf,
  readAgent,
  readGateCache,
} from "./lookout.js";
import { changedSetting } from "./settings-watch.js";
import type { Surroundings } from "./surroundings.js";

/** What a gate needs to know of where it stands. */
type Standpoint = Pick<Surroundings, "cwd" | "env" | "host" | "coreDir">;

/** Kept outside the project at the start of a session: what is too slow to find out for every call. */
export interface GateCache {
  /** Stamp of .nexus/config.yml when it was read; null when there was none. */
  readonly config: string | null;
  /** Role → capabilities the project adds. */
  readonly additions: Readonly<Record<string, string[]>>;
  /** Read-only sandbox as words; `{cwd}` stands for the folder of the command. */
  readonly sandbox: readonly string[] | null;
}

export async function gateFacts({ cwd, env, host, coreDir }: Standpoint): Promise<GateFacts> {
  if (!statSync(cwd).isDirectory()) throw new Error(`${cwd} is not a folder`);
  const layout = layoutOf(realPath(findRoot(cwd, env)), host.harnessId);
  const lookout = lookoutOf(layout.root, host.harnessId, env);
  const cache = lookout === null ? null : readGateCache(lookout);
  const additions = await additionsOf(layout, cache);
  const home = env.HOME ?? env.USERPROFILE ?? null;
  return {
    root: layout.root,
    linked: linkedTrees(layout.root).map((tree) => realPath(tree)),
    tasksExist: exists(join(layout.state, "tasks.json")),
    // A plugin that stands alone carries its manifest and has no folder; limits need none.
    limits: roleLimits(assemble(coreDir ?? "", readManifestFast(coreDir), { capabilities: additions })),
    get tracked() {
      return trackedNames(layout, lookout);
    },
    loss: (agentId, limits) => (lookout === null || cache === null ? null : lossOf(lookout, agentId, limits)),
    processRole: roleIn(env),
    get activeSkill() {
      const skill = readJson(join(layout.own, "session.json")) as { skill?: unknown } | null;
      return typeof skill?.skill === "string" ? skill.skill : null;
    },
    settings: host.settings.flatMap((path) => (isAbsolute(path) ? [path, realFolder(path)] : [path])),
    sandbox: host.rewrites === false ? null : (cache?.sandbox?.map((word) => (word === "{cwd}" ? cwd : word)) ?? null),
    sandboxMayFail: host.ownSandbox === true,
    home: home === null ? null : realPath(home),
    places: (path) => placesOf(path, cwd, home),
    textOf: (path) => {
      const place = placesOf(path, cwd, home).at(-1)!;
      return existsSync(place) ? readFileSync(place, "utf8") : null;
    },
  };
}

/** Where a path of settings leads; a folder keeps its `/`. */
const realFolder = (path: string): string => (path.endsWith("/") ? `${realPath(path.slice(0, -1))}/` : realPath(path));

/** Agents that were announced and have not ended, of whom the caller may be one. Those that may not edit come first. */
export function agentsAtWork(at: Standpoint): readonly AgentRecord[] {
  const lookout = lookoutAt(at);
  if (lookout === null) return [];
  const rank = ({ agentId }: AgentRecord) => (isRemembered(lookout, agentId) ? 0 : 1);
  return agentRecords(lookout).sort((a, b) => rank(a) - rank(b));
}

export const lookoutAt = ({ cwd, env, host }: Standpoint): Lookout | null =>
  lookoutOf(realPath(findRoot(cwd, env)), host.harnessId, env);

/** As written, and as the disk has it: the deepest part that exists is resolved, the rest is kept. */
export function placesOf(path: string, cwd: string, home: string | null): string[] {
  const expanded = home !== null && (path === "~" || path.startsWith("~/")) ? join(home, path.slice(1)) : path;
  const written = isAbsolute(expanded) ? resolve(expanded) : resolve(realPath(cwd), expanded);
  return [...new Set([written, realPath(written)])];
}

/** Paths in common files are relative to the project, as another machine or harness would name them. */
export function projectPath(path: string, root: string, { cwd, env }: Pick<Surroundings, "cwd" | "env">): string {
  const real = realPath(root);
  const inside = placesOf(path, cwd, env.HOME ?? null).map((place) => insideProject(place, real));
  return inside.find((relative) => relative !== null) ?? path;
}

/** realpath of a path whose end may not exist yet. A dangling link leads where it points. */
export function realPath(path: string, depth = 0): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    if (parent === path || depth > 64) return path;
    const link = readLink(path);
    if (link !== null) return realPath(resolve(parent, link), depth + 1);
    return join(realPath(parent, depth + 1), basename(path));
  }
}

function readLink(path: string): string | null {
  try {
    const entry = lstatSync(path);
    // readlink only for what is a link; its target may be missing, which is why realpath failed.
    return entry.isSymbolicLink() ? readlink(path) : null;
  } catch {
    return null;
  }
}

export function configStamp(layout: Layout): string | null {
  const stat = statSync(join(layout.nexus, "config.yml"), { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.ino}`;
}

async function additionsOf(layout: Layout, cache: GateCache | null): Promise<GateCache["additions"]> {
  const stamp = configStamp(layout);
  if (stamp === null) return {};
  if (cache?.config === stamp) return cache.additions;
  // Slow and right: the configuration changed since the session began.
  const { readConfig } = await import("./full.js");
  return (await readConfig(join(layout.nexus, "config.yml"))).capabilities ?? {};
}

/** Names of agents by their ids. What lies outside the project counts more: agents may write the other. */
function trackedNames(layout: Layout, lookout: Lookout | null): Record<string, string> {
  const agents = readJson(join(layout.own, "agent-tracker.json")) ?? [];
  if (!Array.isArray(agents)) throw new Error("agent-tracker.json is not a list");
  const names: Record<string, string> = Object.create(null);
  for (const { agent_id, agent_name } of agents as { agent_id?: unknown; agent_name?: unknown }[]) {
    if (typeof agent_id === "string" && typeof agent_name === "string") names[agent_id] = agent_name;
  }
  if (lookout !== null) for (const { agentId, agentName } of agentRecords(lookout)) names[agentId] = agentName;
  return names;
}

/** What an agent, or somebody, took from the harness since the agent started; null when everything is as it was. */
function lossOf(lookout: Lookout, agentId: string, { needsTree }: { readonly needsTree: boolean }): string | null {
  const record = readAgent(lookout, agentId);
  if (record === null) return "its start was not recorded, or the record is gone";
  const setting = changedSetting(record.watched);
  if (setting !== null) return `${setting} was changed while agents are at work, which only a person may`;
  if (needsTree && !isRemembered(lookout, agentId))
    return "the tree remembered for it is gone, so what it changes could not be told";
  return null;
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** null when absent; throws when it cannot be read or is not JSON. */
function readJson(path: string): unknown {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (!stat.isFile()) throw new Error(`${path} is not a file`);
  return JSON.parse(readFileSync(path, "utf8"));
}
