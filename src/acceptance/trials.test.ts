import { expect, test } from "vitest";
import type { Control } from "./model.js";
import { passed } from "./outcome.js";
import { makeTrials, type TrialPlan } from "./trials.js";

const plan: TrialPlan = { trials: 2, compared: true, untouched: false, canBeSteered: false, quick: false, once: false };
const control = { form: "literals", files: new Map() } as unknown as Control;

test.each([
  ["nobody reads it", "", true],
  ["the base complains of its line", "SyntaxError: )( hush", undefined],
  ["the base's shell complains of its place", "tests/b.sh: 1: Syntax error: ) unexpected", undefined],
])("a control in a file that only the work leaves out shows something: %s", async (_, log, showsNothing) => {
  const files = new Map([["tests/b.sh", new Uint8Array()]]);
  const alone: Control = { name: "alone", files, mustFail: null, unlessUnread: { files, word: "hush" } };
  const trials = await makeTrials(
    plan,
    async (tree, altered) =>
      tree === "base" ? { status: "failed", log: altered === null ? "" : log } : { status: "passed" },
    () => [alone],
  );
  expect(trials.find((trial) => trial.control === alone)?.showsNothing).toBe(showsNothing);
});

test("a control that never ends is waited for by what the plain run took, not by the check's whole limit", async () => {
  const patience: { readonly of: string; readonly ms: number }[] = [];
  await makeTrials(
    plan,
    async (tree, altered, ms) => {
      patience.push({ of: altered === null ? tree : "control", ms });
      return passed();
    },
    () => [control],
  );
  const ofControls = patience.filter(({ of }) => of === "control");
  expect(ofControls).toHaveLength(1);
  expect(ofControls[0]!.ms).toBeGreaterThanOrEqual(60_000);
  expect(ofControls[0]!.ms).toBeLessThan(120_000);
  // A slow machine must not make honest work fail: base and result have the check's own limit.
  expect(patience.filter(({ of }) => of !== "control").map(({ ms }) => ms)).toEqual([
    Infinity,
    Infinity,
    Infinity,
    Infinity,
  ]);
});
