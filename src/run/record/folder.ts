// One folder per run, under the project's own harness folder. What is where, who holds it, which runs there are.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSystemError, NutError } from "../../errors.js";
import { atomicWrite } from "../../files/index.js";
import { readJournal } from "./journal.js";
import type { RunOptions } from "./options.js";
import { type RunState, replay } from "./run-state.js";

export interface RunFolder {
  readonly id: string;
  readonly root: string;
  readonly options: string;
  readonly journal: string;
  readonly lock: string;
  /** The request as it was unpacked; never written to. */
  readonly request: string;
  /** The tree the work begins with: the request itself, or a copy of the repository. Never written to. */
  readonly base: string;
  /** The tree with every finished task in it. */
  readonly main: string;
  readonly slots: string;
  readonly objects: string;
  readonly agents: string;
  readonly home: string;
  readonly logs: string;
  readonly checkpoints: string;
  readonly delivery: string;
  readonly scratch: string;
  readonly plan: string;
}

export function runFolder(runs: string, id: string, repo: boolean): RunFolder {
  const root = join(runs, id);
  const at = (name: string) => join(root, name);
  return {
    id,
    root,
    options: at("run.json"),
    journal: at("journal.jsonl"),
    lock: at("lock"),
    request: at("request"),
    base: repo ? at("repository") : at("request"),
    main: at("work"),
    slots: at("slots"),
    objects: at("objects"),
    agents: at("agents"),
    home: at("home"),
    logs: at("logs"),
    checkpoints: at("checkpoints"),
    delivery: at("delivery"),
    scratch: at("scratch"),
    plan: at("plan.json"),
  };
}

/** Where a project keeps its runs. */
export function runsFolder(projectRoot: string): string {
  return join(projectRoot, ".nexus", "state", "nutcracker", "runs");
}

/** Sortable by time, and short enough to type. */
export function newRunId(now: Date): string {
  const stamp = now.toISOString().replace(/[-:]/g, "").replace(/\..*/, "").replace("T", "-");
  return `${stamp}-${randomBytes(2).toString("hex")}`;
}

export function createRun(runs: string, options: RunOptions): RunFolder {
  const folder = runFolder(runs, options.id, options.repo !== undefined);
  keepOutOfGit(runs);
  for (const path of [folder.root, folder.agents, folder.logs, folder.scratch]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  atomicWrite(folder.options, `${JSON.stringify(options, null, 2)}\n`, { mode: 0o600 });
  return folder;
}

/** Takes a run away that never began, and the folders made for it while nothing else is in them. */
export function removeRun({ root }: Pick<RunFolder, "root">): void {
  rmSync(root, { recursive: true, force: true });
  const runs = dirname(root);
  const nexus = join(runs, "..", "..", "..");
  try {
    for (const folder of [runs, join(runs, ".."), join(runs, "..", "..")]) rmdirSync(folder);
    if (readdirSync(nexus).join() !== ".gitignore") return;
    rmSync(join(nexus, ".gitignore"));
    rmdirSync(nexus);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** `.nexus/.gitignore` holding `state/`, as the contract has it. */
function keepOutOfGit(runs: string): void {
  mkdirSync(runs, { recursive: true, mode: 0o700 });
  const ignore = join(runs, "..", "..", "..", ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "state/\n");
}

export function readOptions(folder: Pick<RunFolder, "options">): RunOptions {
  return JSON.parse(readFileSync(folder.options, "utf8")) as RunOptions;
}

/** Whether a run got as far as knowing what to do. */
export function hasPlan(folder: Pick<RunFolder, "journal">): boolean {
  return existsSync(folder.journal) && readJournal(folder.journal).some(({ type }) => type === "planned");
}

export interface RunSummary {
  readonly id: string;
  readonly title: string;
  readonly driver: string;
  readonly status: "running" | "paused" | "interrupted" | "delivered" | "damaged";
  readonly detail: string;
  readonly created_at: string;
  readonly tasks: { readonly total: number; readonly completed: number };
  readonly delivery?: string;
}

/** Every run of a project, oldest first. A run that cannot be read is listed as such, never left out. */
export function listRuns(runs: string, isBusy: (lock: string) => boolean): RunSummary[] {
  return runIds(runs).map((id) => summarizeRun(runs, id, isBusy));
}

export function runIds(runs: string): string[] {
  if (!existsSync(runs)) return [];
  return readdirSync(runs)
    .filter((id) => existsSync(join(runs, id, "run.json")))
    .sort();
}

function summarizeRun(runs: string, id: string, isBusy: (lock: string) => boolean): RunSummary {
  const folder = runFolder(runs, id, false);
  try {
    const options = readOptions(folder);
    const state = existsSync(folder.journal) ? replay(readJournal(folder.journal)) : replay([]);
    const tasks = [...state.tasks.values()];
    return {
      id,
      title: options.title,
      driver: options.driver,
      ...statusOf(state, isBusy(folder.lock)),
      created_at: options.created_at,
      tasks: { total: tasks.length, completed: tasks.filter(({ status }) => status === "completed").length },
      ...(state.delivered === null ? {} : { delivery: state.delivered.path }),
    };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const tasks = { total: 0, completed: 0 };
    return { id, title: "", driver: "", status: "damaged", detail, created_at: "", tasks };
  }
}

function statusOf(state: RunState, busy: boolean): { status: RunSummary["status"]; detail: string } {
  if (busy) return { status: "running", detail: "" };
  if (state.closed) return { status: "delivered", detail: state.delivered?.status ?? "" };
  if (state.paused !== null) return { status: "paused", detail: state.paused.message };
  return { status: "interrupted", detail: "it was killed" };
}

/** The run a person means: the id, a unique beginning of it, or the latest one that is not finished. */
export function findRun(runs: string, wanted: string | undefined, isBusy: (lock: string) => boolean): string {
  const ids = runIds(runs);
  if (wanted !== undefined) {
    const matches = ids.filter((id) => id === wanted || id.startsWith(wanted));
    if (matches.length === 1) return matches[0]!;
    throw new NutError(
      "RUN_NOT_FOUND",
      matches.length === 0 ? `there is no run "${wanted}" here` : `"${wanted}" fits ${matches.length} runs`,
      { hint: "nexus runs", data: { wanted, matches } },
    );
  }
  const open = listRuns(runs, isBusy).findLast(({ status }) => status === "paused" || status === "interrupted");
  if (open !== undefined) return open.id;
  throw new NutError("RUN_NOT_FOUND", "no run is waiting to go on here", { hint: "nexus runs" });
}
