// What several runs of one check show together. Pure: runs in, one answer out. Everything that makes a criterion count as
// proven is decided here, and nowhere else.
import type { Outcome, Trial, Weakness, Weighed } from "./model.js";
import { ID_SEPARATOR } from "./runners/outcomes.js";

export interface Weighing {
  readonly trials: readonly Trial[];
  /** Controls were left out on purpose. */
  readonly quick: boolean;
  /** Changes that were in no room. */
  readonly outside?: readonly { readonly path: string }[];
  /** false: nothing was compared with the untouched base, so nothing is known about what the work did. */
  readonly compared: boolean;
}

export function weighCheck({ trials, quick, compared, outside = [] }: Weighing): Weighed {
  const plain = trials.filter(({ tree, control }) => tree === "result" && control === null).map(outcomeOf);
  const first = plain[0];
  if (first === undefined) return { status: "unknown", proven: false, weakness: null, reason: "it was not run" };
  const passes = plain.filter(({ status }) => status === "passed").length;
  if (passes === 0) return isSteered(trials) ? steered(outside) : { ...same(plain), proven: false, weakness: null };
  if (passes < plain.length) {
    const reason = `unsteady: it passed ${passes} of ${plain.length} times on the same result`;
    return { status: "failed", proven: false, weakness: "unsteady", reason };
  }
  return { status: "passed", ...strength(trials, { quick, compared }) };
}

const isSteered = (trials: readonly Trial[]): boolean =>
  trials.some(({ tree, outcome }) => tree === "steered" && outcome.status === "passed");

function steered(outside: readonly { readonly path: string }[]): Weighed {
  const paths = outside.slice(0, 3).map(({ path }) => path);
  const reason = `steered: it passes only with changes outside the subject: ${paths.join(", ")}`;
  return { status: "failed", proven: false, weakness: "steered", reason };
}

/** The first outcome that is not a pass, in its own words. */
function same(outcomes: readonly Outcome[]): Pick<Weighed, "status" | "reason"> {
  const { status, reason } = outcomes.find((outcome) => outcome.status === "failed") ?? outcomes[0]!;
  return { status, reason: reason ?? null };
}

type Strength = Pick<Weighed, "proven" | "weakness" | "reason">;

const weak = (weakness: Weakness, reason: string): Strength => ({ proven: false, weakness, reason });

function strength(trials: readonly Trial[], { quick, compared }: Omit<Weighing, "trials">): Strength {
  const base = trials.filter(({ tree, control }) => tree === "base" && control === null).map(outcomeOf);
  const before = base.filter(({ status }) => status === "passed").length;
  if (compared && base.length > 0 && before === base.length) {
    return weak("guards", "also passes on the untouched request");
  }
  if (before > 0) {
    return weak("unsteady", `unsteady: it passed ${before} of ${base.length} times on the untouched request`);
  }
  const missing = missingTests(trials);
  if (missing !== null) return weak("forgeable", missing);
  if (quick) return weak("quick", "recorded, not proven: the controls were left out");
  // The report as a whole says that nothing was compared.
  if (!compared || base.length === 0) return { proven: false, weakness: "quick", reason: null };
  return controlled(trials);
}

/** Every control must fail, and fail as an assertion of the tests it altered. */
function controlled(trials: readonly Trial[]): Strength {
  const all = trials.filter(
    ({ tree, control, showsNothing }) => tree === "result" && control !== null && showsNothing !== true,
  );
  const hidden = all.find(({ control, outcome }) => control!.mustPass === true && outcome.status !== "passed");
  if (hidden !== undefined) {
    return weak("forgeable", `with ${hidden.control!.name} it fails: it reads tests there and reports none`);
  }
  const controls = all.filter(({ control }) => control!.mustPass !== true);
  const fooled = controls.find(({ outcome }) => outcome.status === "passed");
  if (fooled !== undefined) {
    return weak("forgeable", `it also passes with ${fooled.control!.name}: what it reports is not what it tested`);
  }
  const silent = controls.find((trial) => !failedAsAltered(trial));
  if (silent !== undefined) {
    return weak("forgeable", `with ${silent.control!.name} it ends otherwise than by the altered assertion`);
  }
  const shared = trials.some(({ tree, outcome }) => tree === "result" && outcome.forgeable !== false);
  if (controls.length === 0 && shared) {
    return weak("uncontrolled", "none of its expectations could be altered, so a false report would look the same");
  }
  return { proven: true, weakness: null, reason: null };
}

function failedAsAltered({ control, outcome }: Trial): boolean {
  if (outcome.status !== "failed") return false;
  if (control!.mustFail === null || outcome.tests === undefined) return outcome.failure === "assertion";
  const byId = new Map(outcome.tests.map((test) => [test.id, test]));
  return control!.mustFail.every((id) => {
    const test = byId.get(id);
    return test?.status === "failed" && test.assertion !== false;
  });
}

/** A test that any run of the base or the result saw must be reported as passed in every run of the result. */
function missingTests(trials: readonly Trial[]): string | null {
  const plain = trials.filter(({ control, tree }) => control === null && tree !== "steered");
  const silent = new Set(plain.flatMap(({ outcome }) => outcome.silent ?? []));
  const tests = plain.flatMap(({ outcome }) => outcome.tests ?? []);
  const known = new Set(tests.filter(({ promised }) => promised !== true).map(({ id }) => id));
  for (const { tree, outcome } of plain) {
    if (tree !== "result" || outcome.tests === undefined) continue;
    const passed = new Set(outcome.tests.filter(({ status }) => status === "passed").map(({ id }) => id));
    const lost = [...known].filter((id) => !passed.has(id));
    if (lost.length > 0) return `not every test is reported as passed: ${lost.slice(0, 3).join(", ")}`;
    const [file] = [...silent].filter(
      (name) => !outcome.tests!.some(({ id }) => id.startsWith(`${name}${ID_SEPARATOR}`)),
    );
    if (file !== undefined) return `no test of ${file} is reported, which was opened on the untouched request`;
  }
  return null;
}

const outcomeOf = ({ outcome }: Trial): Outcome => outcome;
