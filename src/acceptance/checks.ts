// What there is to run, read from the request alone: criteria first, then test scripts no criterion uses.
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NutError } from "../errors.js";
import { Criteria, type Criterion } from "../schema/criteria.js";
import { Endpoints } from "../schema/endpoints.js";
import type { Manifest } from "../schema/manifest.js";

export const DEFAULT_TIMEOUT_SECONDS = 300;
const KINDS = ["shell", "pytest", "go-test", "jest", "custom", "api_test", "sql_check"] as const;
export type CheckKind = (typeof KINDS)[number];

export interface Check extends Criterion {
  /** null when the type is unknown and there is no script to run either. */
  readonly kind: CheckKind | null;
  readonly timeoutMs: number;
  /** false: a person judges it, and nobody else. */
  readonly automatic: boolean;
}

export interface CheckPlan {
  readonly checks: readonly Check[];
  readonly endpoints: Endpoints | null;
  /** Whether a path is one of the request's own tests, which no result may change. */
  readonly isOwnTest: (path: string) => boolean;
  /** Tests that are named one by one, wherever they stand. */
  readonly ownFiles: readonly string[];
}

/** Throws CRITERIA_INVALID when the request's criteria cannot be read. */
export function planChecks(request: string, manifest: Manifest): CheckPlan {
  const { acceptance = {} } = manifest;
  const file = acceptance.criteria_file ?? "tests/criteria.json";
  const criteria = readJson(request, file, Criteria, acceptance.criteria_file !== undefined);
  const framework = criteria?.test_framework ?? "shell";
  const automatic = criteria?.auto_verifiable ?? acceptance.auto_verifiable ?? true;
  const checks = (criteria?.criteria ?? []).map((criterion) => toCheck(criterion, framework, automatic));
  assertDistinct(checks, file);

  const used = new Set(checks.map(({ script }) => script));
  for (const script of acceptance.test_scripts ?? []) {
    if (used.has(script)) continue;
    const kind = kindOfScript(script, framework);
    checks.push({ id: script, type: kind, script, kind, timeoutMs: DEFAULT_TIMEOUT_SECONDS * 1000, automatic });
  }
  const named = checks.flatMap(({ script, start }) => [script, start]).filter((path) => path !== undefined);
  const ownFiles = [...new Set(["nutshell.json", file, ...named])];
  return {
    checks,
    endpoints: readJson(request, manifest.apis?.endpoints_spec ?? "apis/endpoints.json", Endpoints, false),
    isOwnTest: (path) => path.startsWith("tests/") || path === "tests" || ownFiles.includes(path),
    ownFiles,
  };
}

function toCheck(criterion: Criterion, framework: CheckKind, automatic: boolean): Check {
  const kind = KINDS.find((name) => name === criterion.type);
  const runs = criterion.script !== undefined || criterion.command !== undefined;
  return {
    ...criterion,
    kind: kind ?? (runs ? framework : null),
    timeoutMs: (criterion.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    automatic: criterion.auto_verifiable ?? automatic,
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
  const ids = new Set<string>();
  for (const { id } of checks) {
    if (ids.has(id))
      throw new NutError("CRITERIA_INVALID", `${file}: two criteria are called "${id}"`, {
        hint: "give each criterion an id of its own, then: nutshell check",
      });
    ids.add(id);
  }
}

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
    throw new NutError("CRITERIA_INVALID", `${file}: not JSON`, {
      hint: "mend the file, then: nutshell check",
      data: { path: file },
      cause: error,
    });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new NutError("CRITERIA_INVALID", `${file}: ${issue?.path.join(".")}: ${issue?.message}`, {
    hint: "nutshell schema criteria says what it may hold",
    data: { path: file },
  });
}

/** A path that stays below the folder it is read from. */
export function inside(path: string): boolean {
  return !path.startsWith("/") && !path.includes("\0") && !path.split("/").includes("..");
}
