// Whether a delivery's claims are backed. Pure: it is told what the delivery says and what was found, and weighs one
// against the other. proven: the acceptance was run, and the record or a second run shows it; judged: someone looked and
// says why; said: nothing but the claim.
import type { Finding } from "../errors.js";
import type { ChecklistResult, CriterionResult, Delivery } from "../schema/delivery.js";
import type { Check } from "./checks.js";
import type { AcceptanceReport } from "./run-acceptance.js";

export type Evidence = "proven" | "judged" | "said";

export interface Claim {
  readonly kind: "criterion" | "checklist";
  readonly id: string;
  readonly status: "passed" | "failed" | "skipped" | "unknown";
  readonly evidence: Evidence;
  readonly provesNothing: boolean;
  /** Why the evidence is not better. */
  readonly note?: string;
  /** What running it again here came to. */
  readonly rerun?: "passed" | "failed" | "skipped" | "unknown";
}

export interface DeliveryFacts {
  readonly delivery: Delivery;
  /** Whether a path is in the delivery. */
  readonly has: (path: string) => boolean;
  /** null when the request is not at hand. */
  readonly request: { readonly checks: readonly Check[]; readonly checklist: readonly string[] } | null;
  /** Digests as they are found; null when the request is not at hand. */
  readonly digests: { readonly request: string; readonly result: string; readonly tests: string } | null;
  readonly rerun: AcceptanceReport | null;
}

export interface Judgement {
  readonly claims: readonly Claim[];
  readonly findings: readonly Finding[];
  /** Whether "completed" would be true. */
  readonly backed: boolean;
  /** Why not, one sentence each. */
  readonly gaps: readonly string[];
}

export function judgeDelivery(facts: DeliveryFacts): Judgement {
  const digestFindings = compareDigests(facts);
  const trusted = !digestFindings.some(({ severity }) => severity === "error");
  const { criteria = [], checklist = [] } = facts.delivery.acceptance_results ?? {};
  const claims = [
    ...criteria.map((row) => criterionClaim(row, facts, trusted)),
    ...checklist.map((row) => checklistClaim(row)),
  ];
  const refuted = claims.filter(({ status, rerun }) => status === "passed" && rerun === "failed");
  const findings = [
    ...digestFindings,
    ...refuted.map(
      ({ id }): Finding => error("CLAIM_REFUTED", id, `"${id}" is claimed as passed, but fails when it is run again`),
    ),
  ];
  const gaps = gapsOf(claims, facts);
  return {
    claims,
    findings,
    backed: gaps.length === 0 && !findings.some(({ severity }) => severity === "error"),
    gaps,
  };
}

function compareDigests({ delivery, digests }: DeliveryFacts): Finding[] {
  if (digests === null) return [];
  const named = delivery.digests ?? {};
  const words = { request: "the request", result: "the result tree", tests: "the tests" } as const;
  return (["request", "result", "tests"] as const).flatMap((key): Finding[] => {
    const claimed = named[key];
    if (claimed === undefined) {
      return [
        {
          code: "DIGEST_MISSING",
          severity: "warning",
          path: `digests.${key}`,
          message: `the delivery does not name ${words[key]} by digest`,
        },
      ];
    }
    return claimed === digests[key]
      ? []
      : [error("DIGEST_MISMATCH", `digests.${key}`, `${words[key]} is not the one the delivery was checked with`)];
  });
}

function criterionClaim(row: CriterionResult, facts: DeliveryFacts, trusted: boolean): Claim {
  const { id, status } = row;
  const again = facts.rerun?.results.find((result) => result.id === id);
  const ran = again?.status === "passed" || again?.status === "failed";
  const provesNothing = (ran ? again.proves_nothing : row.proves_nothing) === true;
  const base = {
    kind: "criterion" as const,
    id,
    status,
    provesNothing,
    ...(again === undefined ? {} : { rerun: again.status }),
  };
  if (ran) {
    if (again.status === status) return { ...base, evidence: "proven" };
    return { ...base, evidence: "said", note: `run again it ${again.status}` };
  }
  const weakness = weaknessOf(row, facts, trusted);
  if (weakness === null) return { ...base, evidence: "proven" };
  return {
    ...base,
    evidence: row.evidence === "judged" && row.reason !== undefined ? "judged" : "said",
    note: weakness,
  };
}

/** Why a record does not prove what it says; null when it does. */
function weaknessOf(row: CriterionResult, { request, has }: DeliveryFacts, trusted: boolean): string | null {
  if (row.evidence !== "proven") return row.evidence === "judged" ? "judged, not run" : "no evidence is given";
  if (request !== null && !request.checks.some(({ id }) => id === row.id)) return "the request has no such criterion";
  if (row.log === undefined || !has(row.log)) return "the log of the run is missing";
  return trusted ? null : "the trees it was run on are not these";
}

function checklistClaim({ item, status, evidence, note }: ChecklistResult): Claim {
  const base = { kind: "checklist" as const, id: item, status, provesNothing: false };
  const reasoned = (evidence === "judged" || evidence === "proven") && (note ?? "").trim() !== "";
  return reasoned ? { ...base, evidence: "judged" } : { ...base, evidence: "said", note: "no evidence is given" };
}

function gapsOf(claims: readonly Claim[], { request }: DeliveryFacts): string[] {
  const criteria = claims.filter(({ kind }) => kind === "criterion");
  const gaps: string[] = [];
  const wanted =
    request === null
      ? criteria.filter(({ status }) => status !== "unknown").map(({ id }) => id)
      : request.checks.filter(({ automatic }) => automatic).map(({ id }) => id);
  for (const id of wanted) {
    const claim = criteria.find((row) => row.id === id);
    if (claim === undefined) gaps.push(`${id} is not answered`);
    else if (claim.status !== "passed") gaps.push(`${id} is ${claim.status}`);
    else if (claim.evidence !== "proven") gaps.push(`${id} is ${claim.evidence}, not proven: ${claim.note}`);
  }
  const items = request?.checklist ?? claims.filter(({ kind }) => kind === "checklist").map(({ id }) => id);
  for (const item of items) {
    const claim = claims.find(({ kind, id }) => kind === "checklist" && id === item);
    if (claim === undefined) gaps.push(`"${item}" is not answered`);
    else if (claim.status !== "passed") gaps.push(`"${item}" is ${claim.status}`);
    else if (claim.evidence === "said") gaps.push(`"${item}" is only said`);
  }
  const proven = criteria.some(
    ({ status, evidence, provesNothing }) => status === "passed" && evidence === "proven" && !provesNothing,
  );
  if (!proven) gaps.push("nothing is proven that the untouched request would not pass");
  return gaps;
}

const error = (code: string, path: string, message: string): Finding => ({ code, severity: "error", path, message });
