// One job on one worker: the request fetched, the run started or gone on with as a process of its own, its journal stored as
// it grows, and what came of it. The process ends with the worker, however the worker ends.
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NutError } from "../errors.js";
import { makeFolder } from "../files/index.js";
import type { Context } from "../operation.js";
import { type Child, type ChildEnd, readLines, STOP_WITH_INPUT, startChild } from "../process/index.js";
import {
  nexusProgram,
  parseBudget,
  peekRequest,
  type RunFolder,
  runFolder,
  runsFolder,
  writeOptions,
} from "../run/index.js";
import { Delivery } from "../schema/delivery.js";
import type { Job } from "../schema/fleet.js";
import type { RunOptions } from "../schema/run.js";
import { Checkpoints, type Cipher, restore } from "./checkpoints.js";
import { patiently } from "./connect.js";
import type { Fleet } from "./fleet.js";
import { fetchRequest } from "./request-place.js";

/** How long a run that is asked to stop may take to write down where it was. */
const STOP_MS = 15_000;
/** How often the journal is looked at, and stored when it grew. */
const LOOK_MS = 500;
/** A run that says and writes nothing for this long is no longer vouched for; its own limits end it long before. */
export const SILENT_MS = 20 * 60_000;

/** What a worker starts agents with. None of it comes from a job. */
export interface Programs {
  readonly driver: string;
  readonly command?: string | undefined;
  readonly model?: string | undefined;
  readonly identity: readonly string[];
  readonly noSandbox: boolean;
  /** Folders and registries from which requests may come, besides the fleet's own store. */
  readonly places: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type JobEnd =
  | { readonly kind: "delivered"; readonly path: string; readonly result: Delivery }
  /** It can go on from where it is stored; `reason` as the run gives it. */
  | { readonly kind: "paused"; readonly reason: string; readonly message: string }
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  | { readonly kind: "crashed"; readonly message: string };

export interface JobRun {
  readonly ended: Promise<JobEnd>;
  readonly checkpoints: Checkpoints;
  /** When the run last said or wrote anything. */
  movedAt(): number;
  /** Asks it to write down where it is and end. */
  stop(): void;
}

export interface JobInput {
  readonly fleet: Fleet;
  readonly job: Job;
  /** A folder of this job alone, which is there and empty. */
  readonly folder: string;
  readonly programs: Programs;
  readonly cipher: Cipher | null;
  readonly context: Context;
  /** Notes that this account started the run, so that going on with it is nobody's surprise. */
  readonly adopt: (folder: RunFolder) => void;
  readonly onEvent: (event: Readonly<Record<string, unknown>>) => void;
}

/** Throws what keeps the job from being started here. The run itself tells in `ended`. */
export async function startJob(input: JobInput): Promise<JobRun> {
  const { fleet, job, folder, programs, cipher, context } = input;
  const request = join(folder, "request.nut");
  await patiently(() => fetchRequest(fleet, job, request, { context, places: programs.places }), context.signal);
  const checkpoints = new Checkpoints({ fleet, job: job.id, fence: job.fence, cipher, now: context.now });
  const resumed = await goOn(input, request, checkpoints);
  const { command, args } = nexusProgram(...words(input, request, resumed));
  const child = await startChild({
    command,
    args: [...args],
    cwd: folder,
    env: { ...programs.env, NEXUS_PROJECT_DIR: folder, [STOP_WITH_INPUT]: "1" },
    stdin: "pipe",
    graceMs: STOP_MS,
  });
  const state: Following = { moved: performance.now(), run: resumed, pausedFor: null };
  const ended = follow(child, input, checkpoints, state);
  return { ended, checkpoints, movedAt: () => state.moved, stop: () => void child.stop() };
}

interface Following {
  moved: number;
  run: string | null;
  pausedFor: string | null;
}

function words({ job, programs, folder }: JobInput, request: string, resumed: string | null): string[] {
  const { driver, command, model, identity, noSandbox } = programs;
  const common = [
    ...["--driver", driver, "--yes", "--json"],
    ...(command === undefined ? [] : ["--command", command]),
    ...(model === undefined ? [] : ["--model", model]),
    ...(noSandbox ? ["--no-sandbox"] : []),
  ];
  if (resumed !== null) return ["resume", resumed, ...common, ...job.budget.flatMap((limit) => ["--budget", limit])];
  return [
    ...["run", request, "-o", join(folder, "delivery.nut")],
    ...common,
    ...job.budget.flatMap((limit) => ["--budget", limit]),
    ...identity.flatMap((file) => ["--identity", file]),
  ];
}

/** The run of an earlier worker, put where this one's runs are; null when there is none that can go on. */
async function goOn(input: JobInput, request: string, checkpoints: Checkpoints): Promise<string | null> {
  const { fleet, job, folder, programs, cipher, context, onEvent } = input;
  if (job.checkpoint === undefined) return null;
  const place = runFolder(runsFolder(folder), job.checkpoint.run, false);
  try {
    makeFolder(place.root, 0o700);
    for (const path of [place.agents, place.logs, place.scratch]) makeFolder(path, 0o700);
    const own = programs.command === undefined ? [] : [programs.command];
    const files = await patiently(
      () => restore(fleet, job, { root: place.root, cipher, programs: own }),
      context.signal,
    );
    checkpoints.took(job.checkpoint.list, files);
  } catch (error) {
    if (!(error instanceof NutError) || error.code !== "FLEET_CORRUPT") throw error;
    onEvent({ type: "restarted", message: `the run begins anew: ${error.message}` });
    return null;
  }
  // Nothing of this is believed from elsewhere: which program starts, with which keys, and where it writes.
  const peek = await peekRequest(request, programs.identity, context);
  const options: RunOptions = {
    id: place.id,
    created_at: job.created_at,
    title: peek.title,
    request_id: peek.id,
    request,
    driver: programs.driver,
    ...(programs.command === undefined ? {} : { command: programs.command }),
    ...(programs.model === undefined ? {} : { model: programs.model }),
    budget: parseBudget(job.budget),
    review_plan: false,
    yes: true,
    force: false,
    output: join(folder, "delivery.nut"),
    identity: [...programs.identity],
    ...(programs.noSandbox ? { no_sandbox: true } : {}),
  };
  writeOptions(place, options);
  input.adopt(place);
  return place.id;
}

async function follow(child: Child, input: JobInput, checkpoints: Checkpoints, state: Following): Promise<JobEnd> {
  let [last, errors] = ["", ""];
  readLines(child.stdout, (line) => {
    state.moved = performance.now();
    const event = readEvent(line);
    if (event === null) return;
    if (event.type === "run_started") state.run = String(event.run);
    if (event.type === "paused") state.pausedFor = String(event.reason);
    if (event.type === "result") last = line;
    else input.onEvent(event);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-64 * 1024);
  });
  const place = () =>
    state.run !== null && /^[\w-]+$/.test(state.run) ? runFolder(runsFolder(input.folder), state.run, false) : null;
  const over = new AbortController();
  void keepStored(place, checkpoints, state, over.signal);
  const end = await child.ended;
  over.abort();
  const outcome = outcomeOf(end, last, errors, state.pausedFor);
  const where = place();
  // Who delivers needs no checkpoint any more, and waits for none.
  if (outcome.kind === "delivered") checkpoints.giveUp();
  if (outcome.kind === "paused" && where !== null) await checkpoints.save(where).catch(() => {});
  return outcome;
}

/** Until the run is over: its journal is looked at now and then, and stored when it grew. */
async function keepStored(
  place: () => RunFolder | null,
  checkpoints: Checkpoints,
  state: Following,
  over: AbortSignal,
): Promise<void> {
  for (let size = 0; ; ) {
    await sleep(LOOK_MS, undefined, { signal: over }).catch(() => {});
    if (over.aborted) return;
    const folder = place();
    const now = folder === null ? 0 : (statSync(folder.journal, { throwIfNoEntry: false })?.size ?? 0);
    if (folder === null || now === size) continue;
    size = now;
    state.moved = performance.now();
    // A server that is away just now is asked again; a lost lease is noticed by who holds it.
    await checkpoints.save(folder).catch(() => {
      size = -1;
    });
  }
}

function readEvent(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

interface RunAnswer {
  readonly status?: string;
  readonly delivery?: { readonly path: string; readonly result: unknown };
  readonly paused?: { readonly reason: string; readonly message: string };
}

function outcomeOf(end: ChildEnd, last: string, errors: string, pausedFor: string | null): JobEnd {
  const answer = (last === "" ? {} : JSON.parse(last)) as RunAnswer;
  if (answer.delivery !== undefined) {
    const result = Delivery.parse(answer.delivery.result);
    return { kind: "delivered", path: answer.delivery.path, result };
  }
  if (answer.paused !== undefined) return { kind: "paused", ...answer.paused };
  // Whoever interrupts a run gets no answer from it, only its last event.
  if (pausedFor === "interrupted") return { kind: "paused", reason: pausedFor, message: "the run was interrupted" };
  const error = errorIn(errors);
  if (error !== null) return { kind: "refused", ...error };
  const how = end.signal ?? `exit ${end.code}`;
  return { kind: "crashed", message: `the run ended without a word (${how})` };
}

/** What `--json` prints of a refusal. */
function errorIn(text: string): { readonly code: string; readonly message: string } | null {
  const at = text.indexOf("{");
  if (at < 0) return null;
  try {
    const { error } = JSON.parse(text.slice(at)) as {
      readonly error?: { readonly code: string; readonly message: string };
    };
    return error === undefined ? null : { code: error.code, message: error.message };
  } catch {
    return null;
  }
}
