import { describe, expect, it } from "vitest";
import type { Control, Outcome, Trial } from "./model.js";
import { weighCheck } from "./weigh.js";

const passed: Outcome = { status: "passed", forgeable: true };
const failed: Outcome = { status: "failed", reason: "exit 1, expected 0", failure: "assertion" };
const altered: Control = { name: "altered literals", files: new Map(), mustFail: null };
const trial = (tree: Trial["tree"], outcome: Outcome, control: Control | null = null): Trial => ({
  tree,
  control,
  outcome,
  durationMs: 1,
});
const three = (tree: Trial["tree"], outcome: Outcome) => [1, 2, 3].map(() => trial(tree, outcome));
const weigh = (trials: readonly Trial[], more: { quick?: boolean; compared?: boolean } = {}) =>
  weighCheck({ trials, quick: false, compared: true, outside: [{ path: "Makefile" }], ...more });

const honest = [...three("result", passed), ...three("base", failed)];

describe("weighCheck", () => {
  it("calls proven what passes with the work, fails without it, and fails when expectations are altered", () => {
    expect(weigh([...honest, trial("result", failed, altered)])).toEqual({
      status: "passed",
      proven: true,
      weakness: null,
      reason: null,
    });
  });

  it("does not wait for tests that the base only promised", () => {
    const one = (status: "passed" | "failed") => ({ id: "tap > one", status, assertion: true });
    const promised = { id: "tap > the whole plan", status: "failed", assertion: false, promised: true } as const;
    const base: Outcome = { ...failed, tests: [one("failed"), promised] };
    const result: Outcome = { ...passed, tests: [one("passed")] };
    const control = trial("result", { ...failed, tests: [one("failed")] }, altered);
    expect(weigh([...three("result", result), ...three("base", base), control])).toMatchObject({ proven: true });
  });

  it.each<[string, readonly Trial[], object]>([
    ["guards", [...three("result", passed), ...three("base", passed)], { status: "passed", weakness: "guards" }],
    [
      "luck on the result",
      [...three("result", passed).slice(1), trial("result", failed), ...three("base", failed)],
      { status: "failed", weakness: "unsteady", reason: "unsteady: it passed 2 of 3 times on the same result" },
    ],
    [
      "luck on the base",
      [...three("result", passed), ...three("base", failed).slice(1), trial("base", passed)],
      { status: "passed", weakness: "unsteady" },
    ],
    ["no control that applies", honest, { status: "passed", weakness: "uncontrolled" }],
    [
      "a report that says passed whatever is asked",
      [...honest, trial("result", passed, altered)],
      { weakness: "forgeable", reason: expect.stringContaining("it also passes with altered literals") },
    ],
    [
      "a control that crashes instead of failing",
      [...honest, trial("result", { ...failed, failure: "other" }, altered)],
      { weakness: "forgeable", reason: expect.stringContaining("ends otherwise than by the altered assertion") },
    ],
    [
      "a pass that needs a file outside the subject",
      [trial("result", failed), trial("steered", passed)],
      {
        status: "failed",
        weakness: "steered",
        reason: "steered: it passes only with changes outside the subject: Makefile",
      },
    ],
  ])("does not call proven: %s", (_, trials, expected) => {
    expect(weigh(trials)).toMatchObject({ proven: false, ...expected });
  });

  it("needs no control where what reports is out of the code's reach", () => {
    const apart = { ...passed, forgeable: false };
    expect(weigh([...three("result", apart), ...three("base", failed)])).toMatchObject({ proven: true });
  });

  it("misses a test that another run saw", () => {
    const seen = { ...failed, tests: [{ id: "a", status: "failed" as const }] };
    const silent = { ...passed, tests: [{ id: "b", status: "passed" as const }] };
    const trials = [...three("result", silent), ...three("base", seen), trial("result", failed, altered)];
    expect(weigh(trials)).toMatchObject({
      weakness: "forgeable",
      reason: "not every test is reported as passed: a",
    });
  });

  it("misses the tests of a file that could not be opened before, and is silent now", () => {
    const unloaded = { ...failed, tests: [], silent: ["hard.test.mjs"] };
    const tests = (id: string) => ({ ...passed, tests: [{ id, status: "passed" as const }] });
    const control = trial("result", { ...failed, tests: undefined }, altered);
    const with_ = (id: string) => [...three("result", tests(id)), ...three("base", unloaded), control];
    expect(weigh(with_("easy.test.mjs > one"))).toMatchObject({
      weakness: "forgeable",
      reason: "no test of hard.test.mjs is reported, which was opened on the untouched request",
    });
    expect(weigh(with_("hard.test.mjs > add"))).toMatchObject({ proven: true });
  });

  it("asks a check that reads no more tests than it reports to pass without the others", () => {
    const unfit: Control = { name: "b.test.mjs unfit to be loaded", files: new Map(), mustFail: null, mustPass: true };
    const controlled = [...honest, trial("result", failed, altered)];
    expect(weigh([...controlled, trial("result", passed, unfit)])).toMatchObject({ proven: true });
    expect(weigh([...controlled, trial("result", failed, unfit)])).toMatchObject({
      weakness: "forgeable",
      reason: "with b.test.mjs unfit to be loaded it fails: it reads tests there and reports none",
    });
    expect(weigh([...honest, trial("result", passed, unfit)])).toMatchObject({ weakness: "uncontrolled" });
  });

  it("asks each altered test to fail by its own assertion", () => {
    const control = { ...altered, mustFail: ["a"] };
    const fails = (assertion: boolean): Outcome => ({
      ...failed,
      tests: [{ id: "a", status: "failed", assertion }],
    });
    expect(weigh([...honest, trial("result", fails(true), control)])).toMatchObject({ proven: true });
    expect(weigh([...honest, trial("result", fails(false), control)])).toMatchObject({ weakness: "forgeable" });
  });

  it("proves nothing in a hurry, nor without a base", () => {
    expect(weigh(honest, { quick: true })).toMatchObject({ proven: false, weakness: "quick" });
    expect(weigh(three("result", passed), { compared: false })).toMatchObject({ proven: false, weakness: "quick" });
  });
});
