// Whether a delivery's claims are backed. Pure: it is told what the delivery says and what was found, and weighs one
// against the other. proven: it was run here, just now; judged: someone looked and says why; recorded: the delivery says
// that it was run, and nothing contradicts it; said: nothing but the claim.
import type { Finding } from "../errors.js";
import type { ChecklistResult, CriterionResult, Delivery, Evidence } from "../schema/delivery.js";
import type { HiddenReport } from "./hidden.js";
import type { Check } from "./model.js";
import type { AcceptanceReport, CheckResult } from "./run-acceptance.js";

export type { Evidence };

export interface Claim {
  readonly kind: "criterion" | "checklist" | "hidden";
  readonly id: string;
  readonly status: "passed" | "failed" | "skipped" | "unknown";
  readonly evidence: Evidence;
  readonly provesNothing: boolean;
  /** Why the evidence is not better. */
  readonly note?: string;
  /** What running it again here came to. */
  readonly rerun?: "passed" | "failed" | "skipped" | "unknown";
  /** The request asks nothing of that name: whatever the delivery says of it, it answers nothing. */
  readonly unasked?: true;
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
  /** Checks sealed for whoever verifies; null when the request has none, or is not at hand. */
  readonly hidden: HiddenReport | null;
}

export interface Judgement {
  readonly claims: readonly Claim[];
  readonly findings: readonly Finding[];
  /** Whether "completed" would be true by what was proven here and judged by someone. */
  readonly backed: boolean;
  /** The same with the delivery's own record believed where nothing was run. */
  readonly recorded: boolean;
  /** Why it is not backed, one sentence each. */
  readonly gaps: readonly string[];
  /** What only a person can answer, and nobody has. */
  readonly unjudged: readonly string[];
}

export function judgeDelivery(facts: DeliveryFacts): Judgement {
  const digestFindings = compareDigests(facts);
  const trusted = !digestFindings.some(({ severity }) => severity === "error");
  const criteria = criterionClaims(facts, trusted);
  const claims = [...criteria, ...hiddenClaims(facts), ...checklistClaims(facts, criteria)];
  const refuted = claims.filter(({ status, rerun }) => status === "passed" && rerun === "failed");
  const findings = [
    ...digestFindings,
    ...refuted.map(
      ({ id }): Finding => error("CLAIM_REFUTED", id, `"${id}" is claimed as passed, but fails when it is run again`),
    ),
    ...claims.filter(({ unasked }) => unasked === true).map(unaskedFinding),
  ];
  const whole = !findings.some(({ severity }) => severity === "error");
  const gaps = gapsOf(claims, facts, isProven);
  return {
    claims,
    findings,
    backed: whole && gaps.length === 0,
    recorded: whole && gapsOf(claims, facts, (claim) => isProven(claim) || claim.evidence === "recorded").length === 0,
    gaps,
    unjudged: unjudgedOf(claims, facts),
  };
}

const isProven = ({ evidence }: Claim): boolean => evidence === "proven";

/** Trees that are not those of the record make the record worthless; a tree that was run here needs no record. */
function compareDigests({ delivery, digests, rerun }: DeliveryFacts): Finding[] {
  if (digests === null) return [];
  const named = delivery.digests ?? {};
  const words = { request: "the request", result: "the result tree", tests: "the tests" } as const;
  return (["request", "result", "tests"] as const).flatMap((key): Finding[] => {
    const claimed = named[key];
    const path = `digests.${key}`;
    if (claimed === undefined) {
      const severity = rerun === null ? ("error" as const) : ("warning" as const);
      return [
        { code: "DIGEST_MISSING", severity, path, message: `the delivery does not name ${words[key]} by digest` },
      ];
    }
    if (claimed === digests[key]) return [];
    return [error("DIGEST_MISMATCH", path, `${words[key]} is not the one the delivery was checked with`)];
  });
}

/** One claim for every criterion of the request, whether the delivery speaks of it or not, and for what it adds. */
function criterionClaims(facts: DeliveryFacts, trusted: boolean): Claim[] {
  const rows = worstOfEach(facts.delivery.acceptance_results?.criteria ?? [], ({ id }) => id);
  const wanted = facts.request?.checks.map(({ id }) => id) ?? [];
  const claimed = rows.map((row) => criterionClaim(row, facts, trusted));
  const silent = wanted.filter((id) => !rows.some((row) => row.id === id));
  const ran = silent.flatMap((id): Claim[] => {
    const result = facts.rerun?.results.find((row) => row.id === id);
    if (result === undefined) return [];
    return [{ kind: "criterion", id, status: result.status, ...strengthOf(result), rerun: result.status }];
  });
  return [...claimed, ...ran];
}

const RANK = ["failed", "unknown", "skipped", "passed"];

/** Of two answers to one question the worse counts. */
function worstOfEach<T extends { readonly status: string }>(rows: readonly T[], keyOf: (row: T) => string): T[] {
  const worst = new Map<string, T>();
  for (const row of rows) {
    const known = worst.get(keyOf(row));
    if (known === undefined || RANK.indexOf(row.status) < RANK.indexOf(known.status)) worst.set(keyOf(row), row);
  }
  return [...worst.values()];
}

function criterionClaim(row: CriterionResult, facts: DeliveryFacts, trusted: boolean): Claim {
  const { id, status } = row;
  if (facts.request?.checks.some((check) => check.id === id) === false) return unasked("criterion", id);
  const again = facts.rerun?.results.find((result) => result.id === id);
  const base = { kind: "criterion" as const, id, status, ...(again === undefined ? {} : { rerun: again.status }) };
  if (again?.status === "passed" || again?.status === "failed") {
    if (again.status === status) return { ...base, ...strengthOf(again) };
    return { ...base, evidence: "said", provesNothing: false, note: `run again it ${again.status}` };
  }
  const weakness = weaknessOf(row, facts, trusted);
  const provesNothing = row.proves_nothing === true;
  if (row.evidence === "judged" && hasReason(row.reason))
    return { ...base, provesNothing, evidence: "judged", ...judgedBy(row, row.reason) };
  if (weakness !== null) return { ...base, provesNothing, evidence: "said", note: weakness };
  const note = facts.rerun === null ? "not run here" : `here it is ${again?.status ?? "not run"}`;
  // A record that was asked again and gave no answer is no better than a word.
  return { ...base, provesNothing, evidence: facts.rerun === null ? "recorded" : "said", note };
}

const UNASKED = { criterion: "the request has no such criterion", checklist: "the request has no such point" } as const;

/** Shown, because it was said; never as passed, because nobody asked. */
const unasked = (kind: keyof typeof UNASKED, id: string): Claim => ({
  kind,
  id,
  status: "unknown",
  evidence: "said",
  provesNothing: false,
  note: UNASKED[kind],
  unasked: true,
});

const unaskedFinding = ({ id, note }: Claim): Finding => ({
  code: "CLAIM_UNASKED",
  severity: "warning",
  path: id,
  message: `the delivery speaks of "${id}", but ${note}`,
});

/** What a run here is worth. */
function strengthOf({
  status,
  weakness,
  reason,
}: Pick<CheckResult, "status" | "weakness" | "reason">): Pick<Claim, "evidence" | "provesNothing" | "note"> {
  if (status === "failed") return { evidence: "proven", provesNothing: false };
  if (status !== "passed") return { evidence: "said", provesNothing: false, note: reason ?? "it was not run" };
  if (weakness === undefined || weakness === "guards") {
    return { evidence: "proven", provesNothing: weakness === "guards" };
  }
  return { evidence: "recorded", provesNothing: false, note: reason ?? weakness };
}

/** Why a record does not even say properly what it says; null when it does. */
function weaknessOf(row: CriterionResult, { has }: DeliveryFacts, trusted: boolean): string | null {
  if (row.evidence !== "proven" && row.evidence !== "recorded") return "no evidence is given";
  if (row.log === undefined || !has(row.log)) return "the log of the run is missing";
  return trusted ? null : "the trees it was run on are not these";
}

/** Nobody claims anything of hidden checks: what they came to here is all there is. */
function hiddenClaims({ hidden }: DeliveryFacts): Claim[] {
  return (hidden?.results ?? []).map(({ id, status, weakness }) => ({
    kind: "hidden",
    id,
    status,
    ...strengthOf({ status, weakness, reason: weakness }),
    rerun: status,
  }));
}

const hasReason = (text: string | undefined): boolean => (text ?? "").trim() !== "";

/** A checklist item that a criterion states in the same words is answered by that criterion. */
function checklistClaims({ delivery, request }: DeliveryFacts, criteria: readonly Claim[]): Claim[] {
  const rows = worstOfEach(delivery.acceptance_results?.checklist ?? [], ({ item }) => item);
  const items = [...new Set([...(request?.checklist ?? []), ...rows.map(({ item }) => item)])];
  return items.flatMap((item): Claim[] => {
    const twin = request?.checks.find(({ id, description }) => sameWords(id, item) || sameWords(description, item));
    const answer = twin === undefined ? undefined : criteria.find(({ id }) => id === twin.id);
    if (answer !== undefined) return [{ ...answer, kind: "checklist", id: item }];
    const row = rows.find((entry) => entry.item === item);
    if (row === undefined) return [];
    return [request?.checklist.includes(item) === false ? unasked("checklist", item) : checklistClaim(row)];
  });
}

const sameWords = (a: string | undefined, b: string): boolean => a?.trim().toLowerCase() === b.trim().toLowerCase();

/** Whose word it is, where somebody gave a name. */
function judgedBy({ judged_by: by }: ChecklistResult | CriterionResult, why: string | undefined): { note?: string } {
  return by === undefined ? {} : { note: `${by}: ${why}` };
}

function checklistClaim(row: ChecklistResult): Claim {
  const { item, status, evidence, note } = row;
  const base = { kind: "checklist" as const, id: item, status, provesNothing: false };
  const reasoned = (evidence === "judged" || evidence === "proven") && hasReason(note);
  if (reasoned) return { ...base, evidence: "judged", ...judgedBy(row, note) };
  return { ...base, evidence: "said", note: "no evidence is given" };
}

function gapsOf(
  claims: readonly Claim[],
  { request, delivery, hidden }: DeliveryFacts,
  counts: (claim: Claim) => boolean,
): string[] {
  const criteria = claims.filter(({ kind }) => kind === "criterion");
  const wanted = request?.checks ?? criteria.map(({ id }) => ({ id, automatic: true }));
  const items = request?.checklist ?? claims.filter(({ kind }) => kind === "checklist").map(({ id }) => id);
  const gaps = [
    ...wanted.flatMap(({ id, automatic }) => criterionGap(id, automatic, criteria, counts)),
    ...hiddenGaps(hidden, claims),
    ...items.flatMap((item) => checklistGap(item, claims)),
  ];
  const asked = [...items, ...wanted.filter(({ automatic }) => !automatic).map(({ id }) => id)];
  const ran = claims.filter(({ kind }) => kind !== "checklist");
  const something = ran.some((claim) => claim.status === "passed" && counts(claim) && !claim.provesNothing);
  if (!something && !isJudgedWork(claims, delivery, asked)) {
    gaps.push("nothing is proven that the untouched request would not pass");
  }
  return gaps;
}

/** Not what a run answers: a point in the words of a criterion is that criterion's. */
function unjudgedOf(claims: readonly Claim[], { request }: DeliveryFacts): string[] {
  const criteria = (request?.checks ?? []).filter(({ automatic }) => !automatic).map(({ id }) => id);
  return [...criteria, ...(request?.checklist ?? [])].filter((name) => {
    const claim = claims.find(({ id }) => id === name);
    if (claim === undefined || claim.status === "unknown") return true;
    return claim.status === "passed" && claim.evidence === "said" && claim.rerun !== "failed";
  });
}

function criterionGap(
  id: string,
  automatic: boolean,
  criteria: readonly Claim[],
  counts: (claim: Claim) => boolean,
): string[] {
  const claim = criteria.find((row) => row.id === id);
  if (claim === undefined) return [`${id} is not answered`];
  if (claim.status !== "passed") return [`${id} is ${claim.status}`];
  if (counts(claim) || (!automatic && claim.evidence === "judged")) return [];
  return [`${id} is ${claim.evidence}, not proven${claim.note === undefined ? "" : `: ${claim.note}`}`];
}

/** Hidden checks that did not run here are never made good by the delivery's own word. */
function hiddenGaps(hidden: HiddenReport | null, claims: readonly Claim[]): string[] {
  if (hidden === null) return [];
  if (hidden.results === null) return [`${hidden.count} hidden, not run: ${hidden.reason}`];
  return claims
    .filter(({ kind }) => kind === "hidden")
    .flatMap(({ id, status, evidence, note }) => {
      if (status !== "passed") return [`${id} is ${status}`];
      return evidence === "proven" ? [] : [`${id} is ${evidence}, not proven: ${note}`];
    });
}

function checklistGap(item: string, claims: readonly Claim[]): string[] {
  const claim = claims.find(({ kind, id }) => kind === "checklist" && id === item);
  if (claim === undefined) return [`"${item}" is not answered`];
  if (claim.status !== "passed") return [`"${item}" is ${claim.status}`];
  return claim.evidence === "said" ? [`"${item}" is only said`] : [];
}

/** A refactoring or a document: the guards hold, something was changed, and someone judged the change as it was asked. */
function isJudgedWork(claims: readonly Claim[], { artifacts }: Delivery, asked: readonly string[]): boolean {
  const changed = Object.values(artifacts ?? {}).some((list) => Array.isArray(list) && list.length > 0);
  return (
    changed &&
    claims.some(({ id, status, evidence }) => {
      return asked.includes(id) && status === "passed" && evidence === "judged";
    })
  );
}

const error = (code: string, path: string, message: string): Finding => ({ code, severity: "error", path, message });
