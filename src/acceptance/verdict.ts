// What the results of all checks come to together. Pure.
import type { Check } from "./model.js";
import type { AcceptanceReport, CheckResult } from "./run-acceptance.js";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
  /** Passed, failed on the untouched base, and under control: what the work itself brought about. */
  readonly proven: number;
}

export function countResults(results: readonly CheckResult[]): Counts {
  const count = (status: string) => results.filter((result) => result.status === status).length;
  return {
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    unknown: count("unknown"),
    proven: results.filter(isProven).length,
  };
}

const isProven = ({ status, weakness }: CheckResult): boolean => status === "passed" && weakness === undefined;

const isBacked = (result: CheckResult): boolean =>
  isProven(result) || (result.status === "passed" && result.weakness === "guards");

/** Not compared with anything, all that can be said is that everything passed. */
export function verdictOf(
  results: readonly CheckResult[],
  counts: Counts,
  compared: boolean,
): AcceptanceReport["verdict"] {
  if (counts.failed > 0) return "failed";
  if (results.length === 0 || counts.passed < results.length) return "incomplete";
  if (!compared) return "passed";
  return results.every(isBacked) && counts.proven > 0 ? "passed" : "incomplete";
}

/**
 * A refactoring, a document, a request with criteria for a person: nothing that can be run is against it or was left out,
 * and only somebody's judgement can complete it.
 */
export function awaitsJudgement(results: readonly CheckResult[], checks: readonly Pick<Check, "id" | "automatic">[]) {
  const ran = results.filter(({ id }) => checks.find((check) => check.id === id)?.automatic !== false);
  return ran.every(isBacked) && (ran.length < results.length || !ran.some(isProven));
}
