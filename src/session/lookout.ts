// What the harness keeps of a session outside the project, in the account's state folder, where no agent works: which project
// a session belongs to, which agents it announced, and how the settings of hosts were when they started. An agent may forge
// or delete what lies in the project; compared with this it does not go unseen. Read by every gate: plain and small.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { atomicWrite, makeFolder } from "../files/index.js";
import type { Env } from "../state/index.js";
import { safeName } from "../trees/disk-names.js";
import type { GateCache } from "./gate-facts.js";
import type { WatchedFile } from "./settings-watch.js";
import { shortDigest } from "./short-digest.js";

export interface Lookout {
  /** Everything of one project and harness. */
  readonly folder: string;
  readonly trees: string;
  /** What is known of a work tree from one session to the next. */
  readonly base: (tree: string) => string;
  /** Roles at work that may not edit, a file each: the shell that starts a gate looks for them (hosts/hook-command.ts). */
  readonly mark: string;
  readonly marks: string;
}

export interface AgentRecord {
  readonly agentId: string;
  readonly agentName: string;
  /** Whose it is. Those of earlier versions do not say. */
  readonly sessionId?: string;
  readonly startedAt: string;
  readonly watched: readonly WatchedFile[];
}

/** A session that was never ended: its host is long gone. */
const FORGOTTEN_MS = 30 * 24 * 60 * 60 * 1000;

/** null where there is no home. */
export function stateFolder(env: Env): string | null {
  const home = env.HOME ?? env.USERPROFILE ?? "";
  const state = env.XDG_STATE_HOME || (home === "" ? "" : join(home, ".local/state"));
  return state === "" ? null : join(state, "nutcracker");
}

export function lookoutOf(root: string, harnessId: string, env: Env): Lookout | null {
  const state = stateFolder(env);
  if (state === null) return null;
  const digest = (path: string) => shortDigest(path).slice(0, 16);
  const name = `${harnessId}-${digest(root)}`;
  const base = (tree: string) => join(state, "bases", digest(tree));
  const folder = join(state, "lookout", name);
  return { folder, trees: join(folder, "trees"), base, marks: join(state, "held"), mark: name };
}

/** The project a session began in, wherever its agents go since; null when that was not recorded. */
export function projectOf(sessionId: string, harnessId: string, env: Env): string | null {
  const file = sessionFile(sessionId, harnessId, env);
  const record = file === null ? null : (readRecord(file) as { root?: unknown } | null);
  return typeof record?.root === "string" ? record.root : null;
}

export function keepSession(sessionId: string, harnessId: string, env: Env, root: string): void {
  const file = sessionFile(sessionId, harnessId, env);
  if (file === null) return;
  const folder = dirname(file);
  makeFolder(folder, 0o700);
  for (const name of readdirSync(folder)) {
    const age = Date.now() - (statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > FORGOTTEN_MS) rmSync(join(folder, name), { force: true });
  }
  atomicWrite(file, `${JSON.stringify({ root })}\n`, { mode: 0o600, durable: false });
}

export function dropSession(sessionId: string, harnessId: string, env: Env): void {
  const file = sessionFile(sessionId, harnessId, env);
  if (file !== null) rmSync(file, { force: true });
}

function sessionFile(sessionId: string, harnessId: string, env: Env): string | null {
  const state = stateFolder(env);
  return state === null ? null : join(state, "lookout/sessions", `${harnessId}-${safeName(sessionId)}.json`);
}

/** null when no session of this project was seen to begin. */
export const readGateCache = ({ folder }: Lookout): GateCache | null =>
  readRecord(join(folder, "gate.json")) as GateCache | null;

export function writeGateCache({ folder }: Lookout, cache: GateCache): void {
  makeFolder(folder, 0o700);
  atomicWrite(join(folder, "gate.json"), `${JSON.stringify(cache)}\n`, { mode: 0o600, durable: false });
}

export function writeAgent(lookout: Lookout, record: AgentRecord, { held }: { readonly held: boolean }): void {
  makeFolder(join(lookout.folder, "agents"), 0o700);
  atomicWrite(agentFile(lookout, record.agentId), `${JSON.stringify(record)}\n`, { mode: 0o600, durable: false });
  if (!held) return;
  makeFolder(lookout.marks, 0o700);
  writeFileSync(markFile(lookout, record.agentId), "");
}

export function readAgent(lookout: Lookout, agentId: string): AgentRecord | null {
  return readRecord(agentFile(lookout, agentId)) as AgentRecord | null;
}

export function agentRecords({ folder }: Lookout): AgentRecord[] {
  const agents = join(folder, "agents");
  if (!existsSync(agents)) return [];
  return readdirSync(agents).flatMap((name) => {
    const record = name.endsWith(".json") ? (readRecord(join(agents, name)) as AgentRecord | null) : null;
    return record === null ? [] : [record];
  });
}

/** It has ended. That it was once announced is kept: it may go on. */
export function endAgent(lookout: Lookout, { agentId, agentName, sessionId }: AgentRecord): void {
  makeFolder(join(lookout.folder, "former"), 0o700);
  const text = `${JSON.stringify({ agentName, sessionId })}\n`;
  atomicWrite(formerFile(lookout, agentId), text, { mode: 0o600, durable: false });
  rmSync(agentFile(lookout, agentId), { force: true });
  rmSync(settingsFolder(lookout, agentId), { recursive: true, force: true });
  rmSync(markFile(lookout, agentId), { force: true });
}

/** An agent of this session that goes on after its end. Of several calls at once one is told, the others that it is `busy`. */
export function takeFormer(
  lookout: Lookout,
  agentId: string,
  sessionId: string,
): Pick<AgentRecord, "agentName"> | "busy" | null {
  const file = formerFile(lookout, agentId);
  const former = readRecord(file) as Pick<AgentRecord, "agentName" | "sessionId"> | null;
  if (former?.sessionId === sessionId && isRenamed(file, takenFile(lookout, agentId))) return former;
  return existsSync(takenFile(lookout, agentId)) ? "busy" : null;
}

function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/** What was taken is an agent at work again. */
export function forgetFormer(lookout: Lookout, agentId: string): void {
  rmSync(takenFile(lookout, agentId), { force: true });
}

/** Nothing of an earlier session counts any more, a start of an agent that could not be seen included. */
export function clearLookout({ folder, marks, mark }: Lookout, harnessId: string): void {
  rmSync(folder, { recursive: true, force: true });
  if (!existsSync(marks)) return;
  for (const name of readdirSync(marks))
    if (name.startsWith(mark) || name === `${harnessId}-unseen`) rmSync(join(marks, name), { force: true });
}

export const isRemembered = ({ trees }: Lookout, agentId: string): boolean =>
  existsSync(join(trees, safeName(agentId), "tree.json"));

/** Copies of the settings an agent found at its start. */
export const settingsFolder = ({ folder }: Lookout, agentId: string): string =>
  join(folder, "agents", safeName(agentId));

const agentFile = (lookout: Lookout, agentId: string): string => `${settingsFolder(lookout, agentId)}.json`;
const formerFile = ({ folder }: Lookout, agentId: string): string =>
  join(folder, "former", `${safeName(agentId)}.json`);
const takenFile = (lookout: Lookout, agentId: string): string => `${formerFile(lookout, agentId)}.taken`;
const markFile = ({ marks, mark }: Lookout, agentId: string): string => join(marks, `${mark}-${safeName(agentId)}`);

/** null when there is none, or nothing that can be read. */
function readRecord(file: string): unknown {
  try {
    return statSync(file).isFile() ? JSON.parse(readFileSync(file, "utf8")) : null;
  } catch {
    return null;
  }
}
