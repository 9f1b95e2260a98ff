// The harness runs the acceptance, not the agent: on a tree rebuilt from the base and what the result changed, with the
// request's own tests as they were. A check that also passes on the untouched base proves nothing, and says so.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../process/index.js";
import type { CriterionResult } from "../schema/delivery.js";
import type { Manifest } from "../schema/manifest.js";
import type { ResultChange } from "../trees/result-tree.js";
import { type Check, type CheckPlan, planChecks } from "./checks.js";
import { type CleanRoom, openCleanRoom } from "./clean-room.js";
import { buildCleanTree } from "./clean-tree.js";
import type { AcceptanceCredential, CredentialReader } from "./credential.js";
import { runHttpCheck } from "./http-check.js";
import { type Outcome, skipped, unknown } from "./outcome.js";
import { runScriptCheck } from "./script-check.js";
import { runSqlCheck } from "./sql-check.js";

const LOG_LIMIT = 256 * 1024;
/** Files outside tests/ that test runners obey. A result that changes them may have changed what its tests mean. */
const RUNNER_FILES = /(^|\/)(conftest\.py|pytest\.ini|tox\.ini|setup\.cfg|jest\.config\.[cm]?[jt]s|sitecustomize\.py)$/;

export interface AcceptanceOptions {
  /** Folder of the unpacked request: where criteria and tests come from. */
  readonly request: string;
  readonly manifest: Manifest;
  /** The untouched tree the work began with, when it is not the request itself (a repository). */
  readonly base?: string;
  /** The tree after the work. Equal to the base, it asks what the untouched tree already passes. */
  readonly result: string;
  /** A folder of our own, made and removed by us. */
  readonly workDir: string;
  readonly env: Environment;
  readonly sandbox?: "auto" | "off";
  /** Run passed checks again on the untouched base. On by default. */
  readonly baseline?: boolean;
  readonly credentials?: CredentialReader;
  /** Takes secrets out of every log and reason. */
  readonly scrub?: (text: string) => string;
  /** Where to keep one log per check; without it logs are only in the results. */
  readonly logs?: { readonly dir: string; readonly name: (file: string) => string };
  /** Ids of the criteria to run; by default all of them. */
  readonly only?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (event: AcceptanceEvent) => void;
}

export type AcceptanceEvent =
  | { readonly type: "check_started"; readonly id: string; readonly index: number; readonly total: number }
  | { readonly type: "check_finished"; readonly id: string; readonly status: CheckResult["status"] }
  | { readonly type: "network_reached"; readonly url: string };

export type CheckResult = CriterionResult & { readonly type: string; readonly output: string };

export interface AcceptanceReport {
  /** passed: everything ran, passed, and something was proven; failed: something failed; incomplete: neither. */
  readonly verdict: "passed" | "failed" | "incomplete";
  readonly counts: Counts;
  readonly results: readonly CheckResult[];
  readonly changes: readonly ResultChange[];
  readonly digests: { readonly result: string; readonly tests: string };
  /** Whether the untouched base was asked too; without it nothing is known to be proven. */
  readonly compared: boolean;
  readonly sandboxed: boolean;
  readonly warnings: readonly string[];
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
  /** Passed, and failed on the untouched base: what the work itself brought about. */
  readonly proven: number;
}

export async function runAcceptance(options: AcceptanceOptions): Promise<AcceptanceReport> {
  const { request, manifest, result, base = request, workDir, env, sandbox = "auto", signal } = options;
  const plan = chosen(planChecks(request, manifest), options.only);
  const room = await openCleanRoom({ folder: join(workDir, "result"), env, sandbox });
  try {
    const { changes, kept, digests } = buildCleanTree({ base, request, plan, result, target: room.tree });
    const outcomes = await runChecks(room, plan, options);
    const idle = await findIdle({ options, plan, base, kept, outcomes });
    signal?.throwIfAborted();
    const results = plan.checks.map((check, i) => toResult(check, outcomes[i]!, idle.has(check.id), options));
    const compared = options.baseline !== false;
    const counts = countResults(results, compared);
    return {
      verdict: verdictOf(counts, results.length, compared),
      counts,
      results,
      changes,
      digests,
      compared,
      sandboxed: room.sandboxed,
      warnings: warningsFor(changes, plan, room.sandboxed),
    };
  } finally {
    room.remove();
  }
}

function chosen(plan: CheckPlan, only: readonly string[] | undefined): CheckPlan {
  return only === undefined ? plan : { ...plan, checks: plan.checks.filter(({ id }) => only.includes(id)) };
}

async function runChecks(
  room: CleanRoom,
  plan: CheckPlan,
  options: AcceptanceOptions,
  only?: ReadonlySet<string>,
): Promise<Timed[]> {
  const timed: Timed[] = [];
  const checks = only === undefined ? plan.checks : plan.checks.filter(({ id }) => only.has(id));
  for (const [index, check] of checks.entries()) {
    options.signal?.throwIfAborted();
    if (only === undefined) options.onProgress?.({ type: "check_started", id: check.id, index, total: checks.length });
    const started = performance.now();
    const outcome = check.automatic ? await runCheck(room, check, plan, options) : unknown("a person judges this");
    timed.push({ id: check.id, ...outcome, durationMs: Math.round(performance.now() - started) });
    if (only === undefined) options.onProgress?.({ type: "check_finished", id: check.id, status: outcome.status });
  }
  return timed;
}

interface Timed extends Outcome {
  readonly id: string;
  readonly durationMs: number;
}

async function runCheck(room: CleanRoom, check: Check, plan: CheckPlan, options: AcceptanceOptions): Promise<Outcome> {
  const { manifest, signal } = options;
  const reference =
    check.credential_ref ??
    (check.kind === "api_test" ? plan.endpoints?.auth?.credential_ref : onlyDatabase(check, manifest));
  const credential = reference === undefined ? null : ((await options.credentials?.(reference)) ?? null);
  switch (check.kind) {
    case null:
      return skipped("its type is unknown and it has no script");
    case "api_test":
      return runHttpCheck(room, check, {
        endpoints: plan.endpoints,
        manifest,
        credential,
        signal,
        onReach: (url) => options.onProgress?.({ type: "network_reached", url }),
      });
    case "sql_check":
      return runSqlCheck(room, check, { credential, signal });
    default:
      return runWithCredential(room, check, reference, credential, signal);
  }
}

function runWithCredential(
  room: CleanRoom,
  check: Check,
  reference: string | undefined,
  credential: AcceptanceCredential | null,
  signal?: AbortSignal,
): Promise<Outcome> {
  if (reference !== undefined && credential === null) {
    return Promise.resolve(skipped(`credential "${reference}" could not be opened`));
  }
  return runScriptCheck(room, check, {
    env: credential?.env ?? {},
    signal,
    network: credential === null ? "none" : "host",
  });
}

/** A query that names no database means the only one the request gives access to. */
function onlyDatabase({ kind, database }: Check, manifest: Manifest): string | undefined {
  if (kind !== "sql_check" || database !== undefined) return undefined;
  const databases = (manifest.credentials?.scopes ?? []).filter(({ type }) => /postgres|sqlite/.test(type));
  return databases.length === 1 ? databases[0]!.name : undefined;
}

interface IdleSearch {
  readonly options: AcceptanceOptions;
  readonly plan: CheckPlan;
  readonly base: string;
  readonly kept: readonly ResultChange[];
  readonly outcomes: readonly Timed[];
}

/** Checks that pass without the work. Only what passed with it is asked again. */
async function findIdle({ options, plan, base, kept, outcomes }: IdleSearch): Promise<ReadonlySet<string>> {
  const good = new Set(outcomes.filter(({ status }) => status === "passed").map(({ id }) => id));
  if (options.baseline === false || good.size === 0) return new Set();
  if (kept.length === 0) return good;
  const { workDir, env, sandbox = "auto", request } = options;
  const room = await openCleanRoom({ folder: join(workDir, "untouched"), env, sandbox });
  try {
    buildCleanTree({ base, request, plan, result: base, target: room.tree });
    const again = await runChecks(room, plan, options, good);
    return new Set(again.filter(({ status }) => status === "passed").map(({ id }) => id));
  } finally {
    room.remove();
  }
}

function toResult(check: Check, outcome: Timed, idle: boolean, options: AcceptanceOptions): CheckResult {
  const { scrub = (text) => text, logs } = options;
  const output = scrub((outcome.log ?? "").slice(0, LOG_LIMIT));
  const reason = outcome.reason ?? (idle ? "also passes on the untouched request" : outcome.note);
  const ran = outcome.status === "passed" || outcome.status === "failed";
  return {
    id: check.id,
    ...(check.description === undefined ? {} : { description: check.description }),
    type: check.kind ?? "unknown",
    status: outcome.status,
    ...(ran ? { evidence: "proven" as const } : {}),
    ...(reason === undefined ? {} : { reason: scrub(reason) }),
    duration_ms: outcome.durationMs,
    ...(idle ? { proves_nothing: true } : {}),
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

function countResults(results: readonly CheckResult[], compared: boolean): Counts {
  const count = (status: string) => results.filter((result) => result.status === status).length;
  return {
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    unknown: count("unknown"),
    proven: compared
      ? results.filter(({ status, proves_nothing }) => status === "passed" && proves_nothing !== true).length
      : 0,
  };
}

function verdictOf(
  { passed, failed: bad, proven }: Counts,
  total: number,
  compared: boolean,
): AcceptanceReport["verdict"] {
  if (bad > 0) return "failed";
  return total > 0 && passed === total && (proven > 0 || !compared) ? "passed" : "incomplete";
}

function warningsFor(changes: readonly ResultChange[], plan: CheckPlan, sandboxed: boolean): string[] {
  const warnings: string[] = [];
  const touched = changes.filter(({ path }) => plan.isOwnTest(path)).map(({ path }) => path);
  if (touched.length > 0)
    warnings.push(`the request's own tests were changed and put back: ${touched.slice(0, 5).join(", ")}`);
  const runner = changes.filter(({ path }) => RUNNER_FILES.test(path)).map(({ path }) => path);
  if (runner.length > 0) warnings.push(`the result changes how tests are run: ${runner.join(", ")}`);
  const links = changes.filter(({ link }) => link === true).map(({ path }) => path);
  if (links.length > 0) warnings.push(`links cannot be delivered and were left out: ${links.slice(0, 5).join(", ")}`);
  if (!sandboxed) warnings.push("the checks ran without a sandbox");
  return warnings;
}
