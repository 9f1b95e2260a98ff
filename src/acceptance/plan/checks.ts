// What there is to run, read from the request alone: criteria first, then test scripts no criterion uses.

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromSystemError, NutError } from "../../errors.js";
import { CRITERION_TYPES, Criteria, type Criterion } from "../../schema/criteria.js";
import { Endpoints } from "../../schema/endpoints.js";
import type { Manifest } from "../../schema/manifest.js";
import { mismatchLine } from "../../schema/mismatch.js";
import type { Check, CheckKind, CheckPlan } from "../model.js";
import { installSteps } from "./install-steps.js";
import { inside } from "./paths.js";

const DEFAULT_TIMEOUT_SECONDS = 300;
/** A timer holds 31 bits of milliseconds. */
const LONGEST_SECONDS = Math.floor((2 ** 31 - 1) / 1000);

/** Throws CRITERIA_INVALID when the request's criteria cannot be read. */
export function planChecks(request: string, manifest: Manifest): CheckPlan {
  const { acceptance = {} } = manifest;
  const file = acceptance.criteria_file ?? "tests/criteria.json";
  const criteria = readJson(request, file, Criteria, acceptance.criteria_file !== undefined);
  const framework = criteria?.test_framework ?? "shell";
  const automatic = criteria?.auto_verifiable ?? acceptance.auto_verifiable ?? true;
  const checks = checksOf(criteria?.criteria ?? [], { framework, automatic, file });

  const used = new Set(checks.map(({ script }) => script));
  for (const script of acceptance.test_scripts ?? []) {
    if (used.has(script)) continue;
    const kind = kindOfScript(script, framework);
    checks.push(toCheck({ id: script, type: kind, script }, { framework, automatic, file }));
  }
  const named = [
    ...checks.flatMap(({ script, start, setup }) => [script, start, setup]),
    // A lock file is the tree's; a script is the request's own, whatever the work makes of it.
    ...installSteps(manifest).flatMap(({ kind, path }) => (kind === "script" ? [path] : [])),
  ];
  const own = criteriaOfPart(manifest);
  const ownFiles = [...new Set(["nutshell.json", file, ...named.filter((path) => path !== undefined)])];
  return {
    checks: own === null ? checks : checks.filter(({ id }) => own.includes(id)),
    endpoints: readJson(request, manifest.apis?.endpoints_spec ?? "apis/endpoints.json", Endpoints, false),
    isOwnTest: (path) => path.startsWith("tests/") || path === "tests" || ownFiles.includes(path),
    ownFiles,
    subject: acceptance.subject ?? null,
    controls: acceptance.controls ?? [],
  };
}

/** The criteria a part of a split task answers for; null where all of them count. The others are for the whole. */
function criteriaOfPart({ extensions }: Manifest): readonly unknown[] | null {
  const { criteria } = (extensions?.split ?? {}) as { criteria?: unknown };
  return Array.isArray(criteria) ? criteria : null;
}

/** Throws CRITERIA_INVALID when no order or no clock fits them. */
function checksOf(criteria: readonly Criterion[], defaults: Defaults): Check[] {
  const checks = criteria.map((criterion) => toCheck(criterion, defaults));
  assertDistinct(checks, defaults.file);
  assertOrder(checks, defaults.file);
  return checks;
}

/** Why criteria that have the right shape still cannot be run; null when they can. */
export function criteriaProblem(
  { criteria, test_framework: framework = "shell" }: Criteria,
  file: string,
): string | null {
  try {
    checksOf(criteria, { framework, automatic: true, file });
    return null;
  } catch (error) {
    if (error instanceof NutError) return error.message;
    throw error;
  }
}

interface Defaults {
  readonly framework: CheckKind;
  readonly automatic: boolean;
  readonly file: string;
}

function toCheck(criterion: Criterion, { framework, automatic, file }: Defaults): Check {
  const known = CRITERION_TYPES.find((kind) => kind === criterion.type);
  const runs = criterion.script !== undefined || criterion.command !== undefined;
  const seconds = criterion.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS;
  if (seconds > LONGEST_SECONDS) {
    throw invalid(`${file}: "${criterion.id}" may take ${seconds} s, which is longer than ${LONGEST_SECONDS} s`);
  }
  return {
    ...criterion,
    kind: known ?? (runs ? framework : null),
    timeoutMs: seconds * 1000,
    automatic: criterion.auto_verifiable ?? automatic,
    after: criterion.after ?? [],
    repeatable: criterion.repeatable === true,
  };
}

/** A script's name tells more than the bundle's general framework. */
function kindOfScript(script: string, framework: CheckKind): CheckKind {
  if (/(^|\/)test_[^/]*\.py$|_test\.py$/.test(script)) return "pytest";
  if (/_test\.go$/.test(script)) return "go-test";
  if (/\.(test|spec)\.[cm]?[jt]sx?$/.test(script)) return "jest";
  return /\.(sh|bash)$/.test(script) ? "shell" : framework;
}

function assertDistinct(checks: readonly Check[], file: string): void {
  const seen = new Set<string>();
  for (const { id } of checks) {
    if (seen.has(id)) throw invalid(`${file}: two criteria are called "${id}"`);
    seen.add(id);
  }
}

/** What comes after something must name it, and nothing comes after itself. */
function assertOrder(checks: readonly Check[], file: string): void {
  const waiting = new Map(checks.map(({ id, after }) => [id, new Set(after)]));
  const followers = new Map<string, string[]>();
  for (const { id, after } of checks) {
    for (const earlier of after) {
      if (!waiting.has(earlier)) throw invalid(`${file}: "${id}" comes after "${earlier}", which is no criterion`);
      followers.set(earlier, [...(followers.get(earlier) ?? []), id]);
    }
  }
  const free = checks.filter(({ after }) => after.length === 0).map(({ id }) => id);
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    waiting.delete(id);
    for (const next of followers.get(id) ?? []) {
      const rest = waiting.get(next)!;
      rest.delete(id);
      if (rest.size === 0) free.push(next);
    }
  }
  const [stuck] = waiting.keys();
  if (stuck !== undefined) throw invalid(`${file}: "${stuck}" comes after itself`);
}

const invalid = (message: string): NutError =>
  new NutError("CRITERIA_INVALID", message, { hint: "mend the file, then: nutshell check" });

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { issues: readonly Issue[] } };
}
interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function readJson<T>(root: string, file: string, schema: Schema<T>, required: boolean): T | null {
  const path = join(root, file);
  // A link could lead anywhere; the request's own files are plain ones.
  if (!inside(file) || lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    if (!required) return null;
    throw new NutError("CRITERIA_INVALID", `${file}: the manifest names it, but it is not in the request`, {
      hint: "nutshell check",
      data: { path: file },
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const unread = fromSystemError(error, file);
    if (unread !== null) throw unread;
    throw new NutError("CRITERIA_INVALID", `${file}: not JSON`, {
      hint: "mend the file, then: nutshell check",
      data: { path: file },
      cause: error,
    });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new NutError("CRITERIA_INVALID", `${file}: ${mismatchLine(parsed.error.issues[0]!)}`, {
    hint: "nutshell schema criteria says what it may hold",
    data: { path: file },
  });
}
