// One folder per run, under the project's own harness folder. What is where, and which runs there are.
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSystemError } from "../../errors.js";
import { makeFolder } from "../../files/index.js";
import type { RunOptions } from "../../schema/run.js";
import { writeOptions } from "./options.js";

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
  /** The tree with every finished task in it; where `isDelta`, what differs from the base and nothing else. */
  readonly main: string;
  /** A repository may be large, and most of it is never touched. */
  readonly isDelta: boolean;
  readonly slots: string;
  readonly objects: string;
  readonly agents: string;
  /** One for every session. */
  readonly homes: string;
  readonly logs: string;
  readonly checkpoints: string;
  readonly delivery: string;
  readonly scratch: string;
  readonly plan: string;
  /** What another process asks of whoever works on the run: to stop. */
  readonly stop: string;
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
    isDelta: repo,
    slots: at("slots"),
    objects: at("objects"),
    agents: at("agents"),
    homes: at("homes"),
    logs: at("logs"),
    checkpoints: at("checkpoints"),
    delivery: at("delivery"),
    scratch: at("scratch"),
    plan: at("plan.json"),
    stop: at("stop.json"),
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
    makeFolder(path, 0o700);
  }
  writeOptions(folder, options);
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
  makeFolder(runs, 0o700);
  const ignore = join(runs, "..", "..", "..", ".gitignore");
  if (!existsSync(ignore)) writeFileSync(ignore, "state/\n");
}

/** Without one of its two files a run is damaged, and told of; without both, it is being made. */
export function runIds(runs: string): string[] {
  if (!existsSync(runs)) return [];
  return readdirSync(runs)
    .filter((id) => existsSync(join(runs, id, "run.json")) || existsSync(join(runs, id, "journal.jsonl")))
    .sort();
}
