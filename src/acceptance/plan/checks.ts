// What there is to run, read from the request alone: criteria first, then test scripts no criterion uses.

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fromSystemError, NutError } from "../../errors.js";
import { isNestedDeeper } from "../../files/index.js";
import { CRITERION_TYPES, Criteria, type Criterion, criteriaProblem } from "../../schema/criteria.js";
import { Endpoints } from "../../schema/endpoints.js";
import type { Manifest } from "../../schema/manifest.js";
import { mismatchLine } from "../../schema/mismatch.js";
import type { Check, CheckKind, CheckPlan } from "../model.js";
import { installSteps } from "./install-steps.js";
import { inside } from "./paths.js";

const DEFAULT_TIMEOUT_SECONDS = 300;

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
  const problem = criteriaProblem(criteria);
  if (problem !== null) throw invalid(`${defaults.file}: ${problem}`);
  return criteria.map((criterion) => toCheck(criterion, defaults));
}

interface Defaults {
  readonly framework: CheckKind;
  readonly automatic: boolean;
  readonly file: string;
}

function toCheck(criterion: Criterion, { framework, automatic }: Defaults): Check {
  const known = CRITERION_TYPES.find((kind) => kind === criterion.type);
  const runs = criterion.script !== undefined || criterion.command !== undefined;
  const seconds = criterion.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS;
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
  if (isNestedDeeper(value)) {
    throw new NutError("CRITERIA_INVALID", `${file}: nested deeper than 64 levels`, {
      hint: "nutshell schema criteria says what it may hold",
      data: { path: file },
    });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new NutError("CRITERIA_INVALID", `${file}: ${mismatchLine(parsed.error.issues[0]!)}`, {
    hint: "nutshell schema criteria says what it may hold",
    data: { path: file },
  });
}
