// delivery/result.json of work that was done by hand: what the trees and the acceptance say, and what the person says of it,
// each in its own place. Pure.
import type { Change } from "../../acceptance/index.js";
import type { ChecklistResult, CriterionResult, Delivery, RepositoryBase } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import { artifactsOf } from "../apply/delivered.js";
import type { Accepted } from "../hidden/hidden.js";

/** What the person says. */
export interface Told {
  readonly by: string;
  readonly summary: string | undefined;
  readonly decisions: readonly string[];
  readonly open: readonly string[];
  /** Why a point of the checklist holds, by its words. */
  readonly points: ReadonlyMap<string, string>;
  /** How they say it ended, when that is less than what was found. */
  readonly status: Delivery["status"] | undefined;
}

export interface ResultInput {
  readonly id: string;
  readonly request: Manifest;
  readonly changes: readonly Change[];
  /** null when nothing was run. */
  readonly accepted: Accepted | null;
  readonly digests: { readonly request: string; readonly result: string; readonly tests: string };
  readonly base: RepositoryBase | null;
  readonly told: Told;
  /** What the person wrote into delivery/result.json before. */
  readonly before: Delivery | null;
  /** Constraints that were broken, one sentence each. */
  readonly broken: readonly string[];
  readonly hasLog: boolean;
  readonly credentials: readonly string[];
  readonly now: Date;
}

export function finishResult(input: ResultInput): Delivery {
  const { id, request, accepted, told, before, now } = input;
  const criteria = accepted === null ? null : criteriaRows(accepted, before);
  const checklist = checklistRows(input);
  const status = statusOf(input, criteria, checklist);
  const { acceptance_results: said = {}, ...kept } = before ?? { status };
  return {
    ...kept,
    nutshell_version: "0.2.0",
    bundle_type: "delivery",
    id,
    request_id: request.id,
    parent_id: request.id,
    completed_at: now.toISOString(),
    deliverer: { ...before?.deliverer, name: told.by },
    status,
    completion_percentage: status === "completed" ? 100 : percentage(criteria),
    summary: told.summary ?? before?.summary ?? plainSummary(input),
    artifacts: artifactsOf(input.changes),
    acceptance_results: {
      ...(accepted === null ? pick(said) : counts(accepted)),
      ...(request.acceptance?.hidden === undefined ? {} : { tests_hidden: request.acceptance.hidden.count }),
      ...(criteria === null ? {} : { criteria }),
      ...(checklist.length === 0 ? {} : { checklist }),
    },
    execution_log: logOf(input),
    ...(input.base === null ? {} : { base: input.base }),
    digests: { ...input.digests },
  };
}

const pick = (said: NonNullable<Delivery["acceptance_results"]>) => {
  const { criteria: _criteria, checklist: _checklist, ...rest } = said;
  return rest;
};

function counts({ report }: Accepted) {
  const { passed, failed, skipped, unknown } = report.counts;
  const forPerson = unknown === 0 ? {} : { tests_for_person: unknown };
  return { tests_passed: passed, tests_failed: failed, tests_skipped: skipped, ...forPerson };
}

/** Of what a person judges, the judgement that was recorded before stays. */
function criteriaRows({ report }: Accepted, before: Delivery | null): CriterionResult[] {
  const judged = new Map((before?.acceptance_results?.criteria ?? []).map((row) => [row.id, row]));
  return report.results.map(
    ({ output: _output, runs: _runs, before: _before, after: _after, weakness: _w, ...row }) => {
      const earlier = judged.get(row.id);
      return row.status === "unknown" && earlier?.evidence === "judged" ? earlier : row;
    },
  );
}

function checklistRows({ request, accepted, told, before, now }: ResultInput): ChecklistResult[] {
  const earlier = new Map((before?.acceptance_results?.checklist ?? []).map((row) => [row.item, row]));
  return (request.acceptance?.checklist ?? []).map((item): ChecklistResult => {
    const twin = accepted?.report.results.find(
      ({ id, description, status }) => status === "passed" && (description ?? id) === item,
    );
    if (twin?.evidence === "proven") {
      return { item, status: "passed", evidence: "proven", note: `criterion ${twin.id}` };
    }
    const why = told.points.get(item);
    if (why !== undefined) {
      return {
        item,
        status: "passed",
        evidence: "judged",
        note: why,
        judged_by: told.by,
        judged_at: now.toISOString(),
      };
    }
    return earlier.get(item) ?? { item, status: "unknown", note: "nobody judged it" };
  });
}

/** completed: everything ran and is backed, every point is judged, no constraint is broken. */
function statusOf(
  { accepted, told, broken, before }: ResultInput,
  criteria: readonly CriterionResult[] | null,
  checklist: readonly ChecklistResult[],
): Delivery["status"] {
  if (accepted === null) return told.status ?? before?.status ?? "partial";
  const { report } = accepted;
  const isJudged = checklist.every(
    ({ status, evidence }) => status === "passed" && evidence !== undefined && evidence !== "said",
  );
  const isOpen = (criteria ?? []).some(({ status }) => status !== "passed");
  const isBacked = report.verdict === "passed" || (report.awaitsJudgement && checklist.length > 0);
  const found =
    isBacked && isJudged && !isOpen && broken.length === 0
      ? "completed"
      : report.verdict === "failed" && report.counts.proven === 0
        ? "failed"
        : "partial";
  return told.status !== undefined && RANK[told.status] > RANK[found] ? told.status : found;
}

/** Less counts: a person may say that less was done than was found, never more. */
const RANK: Readonly<Record<Delivery["status"], number>> = { completed: 0, partial: 1, blocked: 2, failed: 3 };

function percentage(criteria: readonly CriterionResult[] | null): number {
  const meant = (criteria ?? []).filter(({ proves_nothing }) => proves_nothing !== true);
  const passed = meant.filter(({ status, evidence }) => status === "passed" && evidence === "proven").length;
  return meant.length === 0 ? 0 : Math.min(99, Math.round((passed / meant.length) * 100));
}

function plainSummary({ request, changes }: ResultInput): string {
  const of = (kind: string) => changes.filter((change) => change.kind === kind).length;
  const words = `${of("created")} created, ${of("modified")} modified, ${of("deleted")} deleted`;
  return `${request.task?.title ?? "The request"}: files ${words}.`;
}

function logOf({ before, told, hasLog, credentials }: ResultInput): Delivery["execution_log"] {
  const { full_log: _log, ...log } = before?.execution_log ?? {};
  const decisions = [...(log.decisions ?? []), ...told.decisions.map(decisionOf)];
  // What was open at an earlier try may be settled by now: who names open points names all of them.
  const issues = told.open.length > 0 ? told.open : (log.issues_encountered ?? []);
  const used = [...new Set([...(log.credentials_used ?? []), ...credentials])];
  return {
    ...log,
    decisions: [...new Map(decisions.map((each) => [each.decision, each])).values()],
    issues_encountered: [...new Set(issues)],
    ...(used.length === 0 ? {} : { credentials_used: used }),
    ...(hasLog ? { full_log: "delivery/logs/execution.log" } : {}),
  };
}

/** "what because why", as agents report it. */
function decisionOf(text: string): { decision: string; reason?: string } {
  const at = text.search(/\s+because\s+/i);
  if (at < 0) return { decision: text.trim() };
  return {
    decision: text.slice(0, at).trim(),
    reason: text
      .slice(at)
      .replace(/^\s+because\s+/i, "")
      .trim(),
  };
}
