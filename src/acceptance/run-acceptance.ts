// The harness runs the acceptance, not the agent: in rooms made of the base and the work, with the request's own tests as
// they were, several times, against the untouched base and with expectations altered. See docs/decisions/0130.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Environment, turns } from "../process/index.js";
import type { CriterionResult } from "../schema/delivery.js";
import type { Manifest } from "../schema/manifest.js";
import type { ResultChange } from "../trees/result-tree.js";
import type { Tree } from "../trees/tree.js";
import { controlsFor, suppliedControls, unaltered } from "./controls/index.js";
import type { CredentialReader } from "./credential.js";
import { type Installer, withInstalled } from "./install/installed.js";
import type { Check, CheckPlan, Outcome, TestResult, Trial, Weakness } from "./model.js";
import { unknown } from "./outcome.js";
import { gatherOutputs, type Outputs } from "./outputs-of.js";
import { planChecks } from "./plan/checks.js";
import { inside } from "./plan/paths.js";
import type { Outside } from "./plan/subject.js";
import { buildTrees, type Trees } from "./room/build-trees.js";
import type { RoomTree } from "./room/room-tree.js";
import { openRooms, type Room, type Rooms } from "./room/rooms.js";
import { readWritten } from "./room/written-files.js";
import { type CheckSetting, reachesOut, runCheck } from "./run-check.js";
import { makeTrials, type RunTrial, runsMade, type TrialPlan } from "./trials.js";
import { awaitsJudgement, type Counts, countResults, verdictOf } from "./verdict.js";
import { weighCheck } from "./weigh.js";

const LOG_LIMIT = 256 * 1024;
const DEFAULT_TRIALS = 3;

export interface AcceptanceOptions {
  /** Folder of the unpacked request: where criteria and tests come from. */
  readonly request: string;
  readonly manifest: Manifest;
  /** The untouched tree the work began with, when it is not the request itself (a repository). */
  readonly base?: string;
  /** The base as it was just looked at; without it, it is looked at here. */
  readonly looked?: Tree | undefined;
  /** The tree after the work. Equal to the base, it asks what the untouched tree already passes. */
  readonly result: string;
  /** The result holds only what differs from the base; these files of the base are not in it. Without it, it is whole. */
  readonly deleted?: readonly string[] | undefined;
  /** A folder of our own, made and removed by us. */
  readonly workDir: string;
  readonly env: Environment;
  readonly sandbox?: "auto" | "off";
  /** Run passed checks on the untouched base too. On by default; without it nothing is proven. */
  readonly baseline?: boolean;
  /** How often base and result are run; 3 by default. */
  readonly trials?: number;
  /** One run each and no controls: recorded, not proven. */
  readonly quick?: boolean;
  readonly credentials?: CredentialReader;
  /** Origins the person named, which api_test may ask wherever they are. */
  readonly allowOrigins?: readonly string[];
  /** Headers and bodies of api_test go into the logs. */
  readonly keepBodies?: boolean;
  /** Takes secrets out of every log and reason. */
  readonly scrub?: (text: string) => string;
  /** Where to keep one log per check; without it logs are only in the results. */
  readonly logs?: { readonly dir: string; readonly name: (file: string) => string };
  /** Ids of the criteria to run; by default all of them. */
  readonly only?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (event: AcceptanceEvent) => void;
  /** Prepares what the checks need installed, when the request names anything. */
  readonly install?: Installer | undefined;
}

export type AcceptanceEvent =
  | { readonly type: "check_started"; readonly id: string; readonly index: number; readonly total: number }
  | {
      readonly type: "check_finished";
      readonly id: string;
      readonly status: CheckResult["status"];
      /** Runs made of this check. */
      readonly runs: number;
    }
  | { readonly type: "network_reached"; readonly url: string };

export type CheckResult = CriterionResult & {
  readonly type: string;
  readonly output: string;
  /** How often it was run. */
  readonly runs: number;
  /** Why it passed and is not proven. */
  readonly weakness?: Weakness;
  /** What it came to on the untouched base; absent when nobody asked. */
  readonly before?: Outcome["status"];
  /** What it came to on the result. */
  readonly after: Outcome["status"];
};

export interface AcceptanceReport {
  /** passed: everything ran, passed, and is proven or guards; failed: something failed; incomplete: neither. */
  readonly verdict: "passed" | "failed" | "incomplete";
  readonly counts: Counts;
  readonly results: readonly CheckResult[];
  readonly changes: readonly ResultChange[];
  readonly digests: { readonly result: string; readonly tests: string };
  /** Whether the untouched base was asked too; without it nothing is known to be proven. */
  readonly compared: boolean;
  /** Every check that passed also passes on the base: nothing is proven, and nothing broke. */
  readonly guardsOnly: boolean;
  /** Ids of the criteria that a person judges. */
  readonly forPerson: readonly string[];
  /** All that a machine can run is backed, something was changed, and the rest is for somebody to judge. */
  readonly awaitsJudgement: boolean;
  /** How often base and result were run. */
  readonly trials: number;
  /** Runs made of all checks together. */
  readonly runs: number;
  /** Paths of the changes that are the work. */
  readonly subject: readonly string[];
  /** Changes that were in no room, and why. */
  readonly steered: readonly Outside[];
  readonly sandboxed: boolean;
  readonly warnings: readonly string[];
}

export async function runAcceptance(options: AcceptanceOptions): Promise<AcceptanceReport> {
  return inRooms(options, async (work) => toReport(options, await runAll(work), work));
}

/** What each check comes to, and no word about the tree. */
export async function runChecks(options: AcceptanceOptions): Promise<CheckResult[]> {
  return inRooms(options, runAll);
}

async function inRooms<T>(options: AcceptanceOptions, run: (work: Work) => Promise<T>): Promise<T> {
  const {
    request,
    manifest,
    result,
    deleted,
    looked,
    base = request,
    workDir,
    env,
    sandbox = "auto",
    signal,
  } = options;
  const plan = planChecks(request, manifest);
  const rooms = await openRooms({ folder: join(workDir, "rooms"), env, sandbox, places: manifest.acceptance?.places });
  try {
    const bare = buildTrees({ request, manifest, plan, base, looked, result, deleted, folder: rooms.place() });
    const trees = await withInstalled(bare, options.install);
    const found = await run({ options, plan, trees, rooms });
    signal?.throwIfAborted();
    return found;
  } finally {
    rooms.remove();
  }
}

interface Work {
  readonly options: AcceptanceOptions;
  readonly plan: CheckPlan;
  readonly trees: Trees;
  readonly rooms: Rooms;
}

async function runAll(work: Work): Promise<CheckResult[]> {
  const { options, plan } = work;
  const checks = plan.checks.filter(({ id }) => options.only?.includes(id) !== false);
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const floor = layFloor(work, signal);
  const all = checks.map(async (check, index) => {
    options.onProgress?.({ type: "check_started", id: check.id, index, total: checks.length });
    const result = await oneCheck(check, work, floor);
    options.onProgress?.({ type: "check_finished", id: check.id, status: result.status, runs: result.runs });
    return result;
  });
  try {
    return await Promise.all(all);
  } catch (error) {
    // The rooms are removed only when nobody is in them.
    stop.abort();
    await Promise.allSettled(all);
    throw error;
  }
}

/** What every run of every check stands on. */
export interface Floor {
  readonly setting: CheckSetting;
  readonly outputs: Outputs;
  readonly run: (check: Check, tree: RoomTree, onRan?: (room: Room) => void) => Promise<Outcome>;
}

export function layFloor({ options, plan, trees, rooms }: Work, signal: AbortSignal): Floor {
  // Without a network of its own, one room at a time: two would fight over a port.
  const turn = turns(rooms.apart ? availableParallelism() : 1);
  const setting: CheckSetting = {
    plan,
    manifest: options.manifest,
    credentials: options.credentials,
    allowOrigins: [...(options.allowOrigins ?? []), ...(options.env.NUTCRACKER_ALLOW_ORIGIN ?? "").split(",")],
    keepBodies: options.keepBodies,
    onReach: (url) => options.onProgress?.({ type: "network_reached", url }),
  };
  const run: Floor["run"] = (check, tree, onRan) => {
    signal.throwIfAborted();
    if (tree.blocked !== undefined) return Promise.resolve(tree.blocked);
    return runCheck(check, { tree, rooms, turn, signal, onRan }, setting);
  };
  const outputs = gatherOutputs({ plan, trees, isGuarded: trees.isGuarded, run, folder: rooms.place });
  return { setting, outputs, run };
}

async function oneCheck(check: Check, work: Work, { setting, outputs, run }: Floor): Promise<CheckResult> {
  const { options, plan, trees, rooms } = work;
  if (!check.automatic) return toResult(check, [unrun("a person judges this")], work);
  const trialPlan: TrialPlan = {
    trials: options.trials ?? DEFAULT_TRIALS,
    compared: isCompared(options),
    untouched: trees.subject.work.length + trees.subject.merged.size === 0,
    canBeSteered: trees.steered !== null,
    quick: options.quick === true,
    once: reachesOut(check, setting) && !check.repeatable,
  };
  const runTrial: RunTrial = async (name, control, patienceMs) => {
    const tree = await outputs.treeFor(check, name);
    const timeoutMs = Math.min(check.timeoutMs, patienceMs);
    return run({ ...check, ...control?.check, timeoutMs }, control === null ? tree : rooms.alter(tree, control.files));
  };
  const controls = (seen: readonly TestResult[]) => [
    ...controlsFor(check, trees.result.view, seen),
    ...suppliedControls(plan.controls, (path) => readRequest(options.request, path)),
  ];
  const trials = await makeTrials(trialPlan, runTrial, controls);
  const inOrder = trialPlan.once || !isPlainFailure(trials) ? [] : await passesAfter(check, plan, { outputs, run });
  return toResult(check, trials, work, inOrder);
}

const isPlainFailure = (trials: readonly Trial[]): boolean =>
  trials.every(({ tree, outcome }) => tree !== "result" || outcome.status === "failed") &&
  !trials.some(({ tree, outcome }) => tree === "steered" && outcome.status === "passed");

/** Checks that stand before one that names none: its author may have counted on what they leave behind. */
function earlierChecks({ id, after }: Check, { checks }: CheckPlan): string[] {
  if (after.length > 0) return [];
  const before = checks.slice(
    0,
    checks.findIndex((check) => check.id === id),
  );
  return before.filter(({ automatic }) => automatic).map((check) => check.id);
}

/** Which checks have to come before, so that one passes that fails alone. Only to say so: nothing counts that was not declared. */
export async function passesAfter(
  check: Check,
  plan: CheckPlan,
  { outputs, run }: Pick<Floor, "outputs" | "run">,
  tree: "base" | "result" = "result",
): Promise<string[]> {
  const after = earlierChecks(check, plan);
  if (after.length === 0) return [];
  const ordered: Check = { ...check, after };
  return (await run(ordered, await outputs.treeFor(ordered, tree))).status === "passed" ? after : [];
}

function unalteredWords(check: Check, { result }: Trees): string {
  const words = unaltered(check, result.view);
  return words === null ? "" : `; "${words}" stands in the way`;
}

export const inOrderWords = (after: readonly string[]): string =>
  after.length === 0 ? "" : `; it passes after ${after.join(", ")}: its "after" may say so`;

/** A file of the request, never through a link out of it. */
export function readRequest(request: string, path: string): Uint8Array | null {
  return inside(path) ? readWritten(request, path) : null;
}

const unrun = (reason: string): Trial => ({ tree: "result", control: null, outcome: unknown(reason), durationMs: 0 });

const isCompared = ({ baseline }: AcceptanceOptions): boolean => baseline !== false;

function toResult(
  check: Check,
  trials: readonly Trial[],
  { options, trees }: Work,
  after: readonly string[] = [],
): CheckResult {
  const { scrub = (text) => text, logs, quick = false } = options;
  const weighed = weighCheck({ trials, quick, compared: isCompared(options), outside: trees.subject.outside });
  const first = trials[0]!;
  const shown = trials.find(({ tree, outcome }) => tree === "result" && outcome.status === weighed.status) ?? first;
  const output = scrub((shown.outcome.log ?? "").slice(0, LOG_LIMIT));
  const more = weighed.weakness === "uncontrolled" ? unalteredWords(check, trees) : inOrderWords(after);
  const reason = more === "" ? (weighed.reason ?? shown.outcome.note) : `${weighed.reason}${more}`;
  const ran = weighed.status === "passed" || weighed.status === "failed";
  const backed = weighed.status === "failed" || weighed.proven || weighed.weakness === "guards";
  const before = trials.find(({ tree }) => tree === "base")?.outcome.status;
  return {
    id: check.id,
    ...(check.description === undefined ? {} : { description: check.description }),
    type: check.kind ?? "unknown",
    status: weighed.status,
    ...(ran ? { evidence: backed ? ("proven" as const) : ("recorded" as const) } : {}),
    ...(reason === undefined ? {} : { reason: scrub(reason) }),
    ...(weighed.weakness === null ? {} : { weakness: weighed.weakness }),
    runs: runsMade(trials),
    ...(before === undefined ? {} : { before }),
    after: first.outcome.status,
    duration_ms: shown.durationMs,
    ...(weighed.weakness === "guards" ? { proves_nothing: true } : {}),
    ...(logs === undefined || !ran ? {} : { log: writeLog(logs, check.id, output) }),
    output,
  };
}

function writeLog({ dir, name }: NonNullable<AcceptanceOptions["logs"]>, id: string, output: string): string {
  const slug = id.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 80);
  // Two ids that differ only in what a file name cannot hold must not share a log.
  const file = slug === id ? `${slug}.log` : `${slug}-${createHash("sha256").update(id).digest("hex").slice(0, 8)}.log`;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, file), output);
  return name(file);
}

function toReport(
  options: AcceptanceOptions,
  results: readonly CheckResult[],
  { trees, plan, rooms }: Omit<Work, "options">,
): AcceptanceReport {
  const compared = isCompared(options);
  const counts = countResults(results);
  const guardsOnly = results.length > 0 && results.every(({ weakness }) => weakness === "guards");
  return {
    verdict: verdictOf(results, counts, compared),
    counts,
    results,
    changes: trees.changes,
    digests: trees.digests,
    compared,
    guardsOnly,
    forPerson: plan.checks.flatMap(({ id, automatic }) => (automatic ? [] : [id])),
    awaitsJudgement: compared && trees.changes.length > 0 && awaitsJudgement(results, plan.checks),
    trials: options.quick === true ? 1 : (options.trials ?? DEFAULT_TRIALS),
    runs: results.reduce((sum, { runs }) => sum + runs, 0),
    subject: [...trees.subject.work.map(({ path }) => path), ...trees.subject.merged.keys()],
    steered: trees.subject.outside,
    sandboxed: rooms.sandboxed,
    warnings: warningsFor(trees, plan, rooms, options),
  };
}

function warningsFor(
  { changes, subject }: Trees,
  plan: CheckPlan,
  { sandboxed, apart }: Rooms,
  options: AcceptanceOptions,
): string[] {
  const warnings: string[] = [];
  const touched = changes
    .map(({ path }) => path)
    .filter((path) => plan.isOwnTest(path) && !(path === MANIFEST && hasSameChecks(options)));
  if (touched.length > 0)
    warnings.push(`the request's own tests were changed and put back: ${touched.slice(0, 5).join(", ")}`);
  const outside = subject.outside.filter(({ path }) => !plan.isOwnTest(path)).map(({ path }) => path);
  if (outside.length > 0)
    warnings.push(`changed outside the subject, and used in no check: ${outside.slice(0, 5).join(", ")}`);
  const links = changes.filter(({ link, target }) => link === true && target === undefined).map(({ path }) => path);
  if (links.length > 0) warnings.push(`links out of the tree are left out: ${links.slice(0, 5).join(", ")}`);
  const names = Object.keys(options.manifest.acceptance?.places ?? {});
  if (!sandboxed && names.length > 0)
    warnings.push(
      `without a sandbox the tree is not known as ${names.join(", ")}, which the request's checks count on`,
    );
  if (!sandboxed) warnings.push("the checks ran without a sandbox");
  else if (!apart)
    warnings.push("the checks could reach this machine's network: the sandbox gives none of its own here");
  return warnings;
}

const MANIFEST = "nutshell.json";

/** Packing fills a manifest in, so an author's own differs from the packed one; its checks are what counts here. */
function hasSameChecks({ result, manifest }: AcceptanceOptions): boolean {
  try {
    const { acceptance } = JSON.parse(readFileSync(join(result, MANIFEST), "utf8")) as Manifest;
    return isDeepStrictEqual(acceptance, manifest.acceptance);
  } catch {
    return false;
  }
}
