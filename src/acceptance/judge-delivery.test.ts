import { describe, expect, it } from "vitest";
import type { ChecklistResult, CriterionResult, Delivery } from "../schema/delivery.js";
import { type DeliveryFacts, judgeDelivery } from "./judge-delivery.js";
import type { Check } from "./model.js";
import type { AcceptanceReport, CheckResult } from "./run-acceptance.js";

const hash = (letter: string) => `sha256:${letter.repeat(64)}`;
const digests = { request: hash("a"), result: hash("b"), tests: hash("c") };
const LOG = "delivery/logs/AC-1.log";

const criterion = (more: Partial<CriterionResult> = {}): CriterionResult => ({
  id: "AC-1",
  status: "passed",
  evidence: "proven",
  log: LOG,
  ...more,
});
const point = (more: Partial<ChecklistResult> = {}): ChecklistResult => ({
  item: "it is polite",
  status: "passed",
  evidence: "judged",
  note: "read it",
  ...more,
});
const check = (id: string, automatic = true): Check => ({
  id,
  type: "shell",
  kind: "shell",
  timeoutMs: 1,
  automatic,
  after: [],
  repeatable: true,
});

function delivery(
  criteria: CriterionResult[],
  checklist: ChecklistResult[] = [],
  more: Partial<Delivery> = {},
): Delivery {
  return { status: "completed", acceptance_results: { criteria, checklist }, digests, ...more };
}

const facts = (given: Delivery, more: Partial<DeliveryFacts> = {}): DeliveryFacts => ({
  delivery: given,
  has: (path) => path === LOG,
  request: { checks: [check("AC-1")], checklist: [] },
  digests,
  rerun: null,
  hidden: null,
  ...more,
});
const judge = (given: Delivery, more: Partial<DeliveryFacts> = {}) => judgeDelivery(facts(given, more));

function rerun(status: CheckResult["status"], more: Partial<CheckResult> = {}): AcceptanceReport {
  const counts = { passed: 0, failed: 0, skipped: 0, unknown: 0, proven: 0 };
  const results: CheckResult[] = [{ id: "AC-1", type: "shell", status, output: "", runs: 1, after: status, ...more }];
  const same = { result: digests.result, tests: digests.tests };
  return {
    verdict: "passed",
    counts,
    results,
    changes: [],
    digests: same,
    compared: true,
    guardsOnly: false,
    forPerson: [],
    awaitsJudgement: false,
    trials: 3,
    runs: 1,
    subject: [],
    steered: [],
    sandboxed: true,
    warnings: [],
  };
}

describe("a criterion", () => {
  it("is recorded, not proven, by a record of the run with its log on these very trees", () => {
    expect(judge(delivery([criterion()]))).toMatchObject({
      claims: [{ kind: "criterion", id: "AC-1", status: "passed", provesNothing: false, evidence: "recorded" }],
      findings: [],
      gaps: [
        "AC-1 is recorded, not proven: not run here",
        "nothing is proven that the untouched request would not pass",
      ],
      backed: false,
      recorded: true,
    });
  });

  it.each<[string, Partial<CriterionResult>, Partial<DeliveryFacts>, string]>([
    ["no evidence", { evidence: undefined }, {}, "AC-1 is said, not proven: no evidence is given"],
    ["somebody's word", { evidence: "said" }, {}, "AC-1 is said, not proven: no evidence is given"],
    ["a judgement without a reason", { evidence: "judged" }, {}, "AC-1 is said, not proven: no evidence is given"],
    ["a judgement", { evidence: "judged", reason: "looked" }, {}, "AC-1 is judged, not proven"],
    ["no log", { log: undefined }, {}, "AC-1 is said, not proven: the log of the run is missing"],
    ["a log that is not there", { log: "x" }, {}, "AC-1 is said, not proven: the log of the run is missing"],
    [
      "other trees",
      {},
      { digests: { ...digests, result: hash("d") } },
      "AC-1 is said, not proven: the trees it was run on are not these",
    ],
    ["a failure", { status: "failed" }, {}, "AC-1 is failed"],
  ])("is not proven by %s", (_, row, more, gap) => {
    const { gaps, backed, recorded } = judge(delivery([criterion(row)]), more);
    expect(gaps).toContain(gap);
    expect({ backed, recorded }).toEqual({ backed: false, recorded: false });
  });

  it("that the request does not have proves nothing about it", () => {
    const more = [criterion({ id: "AC-9" }), criterion({ id: "АС-1", evidence: "judged", reason: "looked" })];
    const strange = judge(delivery([criterion(), ...more], [point()]), { rerun: rerun("passed") });
    const note = "the request has no such criterion";
    expect(strange.claims.slice(1)).toMatchObject([
      { id: "AC-9", status: "unknown", evidence: "said", note, unasked: true },
      { id: "АС-1", status: "unknown", evidence: "said", note, unasked: true },
      { kind: "checklist", status: "unknown", evidence: "said", note: "the request has no such point", unasked: true },
    ]);
    expect(strange.findings.map(({ code, severity, path }) => [code, severity, path])).toEqual([
      ["CLAIM_UNASKED", "warning", "AC-9"],
      ["CLAIM_UNASKED", "warning", "АС-1"],
      ["CLAIM_UNASKED", "warning", "it is polite"],
    ]);
    expect(strange.backed).toBe(true);
  });

  it("of the request that is left out is a gap, also one for a person", () => {
    const request = { checks: [check("AC-1"), check("AC-2"), check("AC-3", false)], checklist: [] };
    const { gaps } = judge(delivery([criterion()]), { request, rerun: rerun("passed") });
    expect(gaps).toEqual(["AC-2 is not answered", "AC-3 is not answered"]);
  });

  it("for a person is answered by a person's judgement with a reason", () => {
    const request = { checks: [check("AC-1"), check("AC-3", false)], checklist: [] };
    const judged = criterion({ id: "AC-3", evidence: "judged", reason: "Ada tried it", log: undefined });
    expect(judge(delivery([criterion(), judged]), { request, rerun: rerun("passed") }).backed).toBe(true);
  });

  it("that also passes on the untouched request does not carry a delivery alone", () => {
    const idle = judge(delivery([criterion({ proves_nothing: true })]));
    expect(idle.gaps).toContain("nothing is proven that the untouched request would not pass");
    expect(idle).toMatchObject({ backed: false, recorded: false });
    expect(judge(delivery([])).gaps).toContain("nothing is proven that the untouched request would not pass");
  });

  it("needs no request at hand to be weighed, but is never proven without one", () => {
    const alone = { request: null, digests: null };
    expect(judge(delivery([criterion()]), alone)).toMatchObject({ backed: false, recorded: true });
    expect(judge(delivery([criterion(), criterion({ id: "AC-2", status: "skipped" })]), alone).gaps).toContain(
      "AC-2 is skipped",
    );
  });
});

describe("running again [P7]", () => {
  it("proves what a record alone does not", () => {
    const said = delivery([criterion({ evidence: "said", log: undefined })]);
    expect(judge(said, { rerun: rerun("passed") })).toMatchObject({
      backed: true,
      claims: [{ evidence: "proven", rerun: "passed" }],
    });
  });

  it("refutes a claim, and says so as an error", () => {
    const refuted = judge(delivery([criterion()]), { rerun: rerun("failed") });
    expect(refuted.findings).toMatchObject([{ code: "CLAIM_REFUTED", severity: "error", path: "AC-1" }]);
    expect(refuted.claims[0]).toMatchObject({ evidence: "said", note: "run again it failed" });
    expect(refuted.backed).toBe(false);
  });

  it("that could not be done leaves only the word of the delivery", () => {
    expect(judge(delivery([criterion()]), { rerun: rerun("skipped") })).toMatchObject({
      backed: false,
      recorded: false,
      claims: [{ evidence: "said", rerun: "skipped" }],
    });
  });

  it.each(["steered", "unsteady", "forgeable", "uncontrolled", "quick"] as const)(
    "is not proof when it is %s",
    (weakness) => {
      expect(judge(delivery([criterion()]), { rerun: rerun("passed", { weakness }) })).toMatchObject({
        backed: false,
        claims: [{ evidence: "recorded", rerun: "passed" }],
      });
    },
  );

  it("speaks for a criterion the delivery is silent about", () => {
    expect(judge(delivery([]), { rerun: rerun("passed") })).toMatchObject({
      backed: true,
      claims: [{ evidence: "proven" }],
    });
  });

  it("tells whether the untouched request passes too, whatever the record says", () => {
    const idle = judge(delivery([criterion()]), { rerun: rerun("passed", { weakness: "guards" }) });
    expect(idle).toMatchObject({ backed: false, claims: [{ provesNothing: true }] });
    const honest = judge(delivery([criterion({ proves_nothing: true })]), { rerun: rerun("passed") });
    expect(honest).toMatchObject({ backed: true, claims: [{ provesNothing: false }] });
  });
});

describe("a point of the checklist", () => {
  const request = { checks: [check("AC-1")], checklist: ["it is polite"] };
  const gaps = (...points: ChecklistResult[]) =>
    judge(delivery([criterion()], points), { request, rerun: rerun("passed") }).gaps;

  it("counts when somebody judged it and says why", () => {
    expect(gaps(point())).toEqual([]);
    expect(gaps(point({ evidence: "proven" }))).toEqual([]);
  });

  it.each<[string, ChecklistResult[], string]>([
    ["is left out", [], '"it is polite" is not answered'],
    ["failed", [point({ status: "failed" })], '"it is polite" is failed'],
    ["passed and failed", [point(), point({ status: "failed" })], '"it is polite" is failed'],
    ["is open", [point({ status: "unknown" })], '"it is polite" is unknown'],
    ["is only said", [point({ evidence: "said" })], '"it is polite" is only said'],
    ["is said by nobody", [point({ evidence: undefined })], '"it is polite" is only said'],
    ["has an empty reason", [point({ note: "  " })], '"it is polite" is only said'],
  ])("does not when it %s", (_, points, gap) => {
    expect(gaps(...points)).toEqual([gap]);
  });
});

describe("digests", () => {
  it.each(["request", "result", "tests"] as const)("of another %s are an error, and nothing is backed", (key) => {
    const forged = delivery([criterion()], [], { digests: { ...digests, [key]: hash("f") } });
    const other = judge(forged);
    expect(other.findings).toMatchObject([{ code: "DIGEST_MISMATCH", severity: "error", path: `digests.${key}` }]);
    expect(other.backed).toBe(false);
    // Not even when everything passes here: it is another delivery than the one that was made.
    const ran = judge(forged, { rerun: rerun("passed") });
    expect(ran).toMatchObject({ gaps: [], backed: false, recorded: false });
  });

  it("that are not named make a record worthless, but not what was run here", () => {
    const unnamed = delivery([criterion()], [], { digests: undefined });
    const severities = (more: Partial<DeliveryFacts>) => judge(unnamed, more).findings.map(({ severity }) => severity);
    expect(severities({})).toEqual(["error", "error", "error"]);
    expect(severities({ rerun: rerun("passed") })).toEqual(["warning", "warning", "warning"]);
    expect(judge(unnamed).recorded).toBe(false);
    expect(judge(unnamed, { rerun: rerun("passed") }).backed).toBe(true);
  });
});
