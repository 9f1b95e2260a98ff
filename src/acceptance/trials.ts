// How often and on what each check is run. The first run on the result decides whether more are worth their time; then base,
// result and controls run beside each other.
import type { Control, Outcome, TestResult, Trial } from "./model.js";

export interface TrialPlan {
  /** How often base and result are run. */
  readonly trials: number;
  /** The base is asked too. */
  readonly compared: boolean;
  /** The result is the base: nothing of it is the work. */
  readonly untouched: boolean;
  /** There are changes outside the subject. */
  readonly canBeSteered: boolean;
  /** One run each, no controls. */
  readonly quick: boolean;
  /** It reaches beyond its room and nobody said that it may be repeated. */
  readonly once: boolean;
}

/** `patienceMs` is how long it may take at most, within the check's own limit. */
export type RunTrial = (tree: Trial["tree"], control: Control | null, patienceMs: number) => Promise<Outcome>;

/** A check that waits for what it expects takes longer when that never comes; one that never ends takes all there is. */
const controlPatienceMs = ({ durationMs }: Trial): number => 60_000 + 10 * durationMs;

export async function makeTrials(
  plan: TrialPlan,
  run: RunTrial,
  controlsFor: (seen: readonly TestResult[]) => readonly Control[],
): Promise<Trial[]> {
  const timed = async (tree: Trial["tree"], control: Control | null, patienceMs = Infinity): Promise<Trial> => {
    const started = performance.now();
    const outcome = await run(tree, control, patienceMs);
    return { tree, control, outcome, durationMs: Math.round(performance.now() - started) };
  };
  const onBase = plan.compared && !plan.untouched;
  // Asked at the same time, because it will be needed; what reaches out is asked no more often than it must be.
  const early = onBase && !plan.once ? [timed("base", null)] : [];
  const [first, ...before] = (await Promise.all([timed("result", null), ...early])) as [Trial, ...Trial[]];
  if (first.outcome.status !== "passed") {
    const worthIt = first.outcome.status === "failed" && plan.canBeSteered && !plan.once;
    return [first, ...before, ...(worthIt ? [await timed("steered", null)] : [])];
  }
  const again = plan.quick || plan.once ? 1 : plan.trials;
  const controls = plan.quick || plan.once || !plan.compared ? [] : controlsFor(first.outcome.tests ?? []);
  const rest = await Promise.all([
    ...Array.from({ length: again - 1 }, () => timed("result", null)),
    ...Array.from({ length: onBase ? again - before.length : 0 }, () => timed("base", null)),
    ...controls.map((control) => timed("result", control, controlPatienceMs(first))),
  ]);
  const probed = await Promise.all(
    rest.map((trial) => probe(trial, (tree, other) => (tree === "base" && !onBase ? null : timed(tree, other)))),
  );
  const asked = [first, ...before, ...probed.flat()];
  return plan.compared && plan.untouched ? [...asked, ...asBase(asked)] : asked;
}

type Probe = (tree: "result" | "base", control: Control) => Promise<Trial> | null;

/**
 * A control that passes may stand in a file nobody reads: then it passes with that file unreadable, and shows nothing. Unless the
 * untouched base complains of that file: then the work is why nobody reads it.
 */
async function probe(trial: Trial, run: Probe): Promise<Trial[]> {
  const { control, outcome } = trial;
  if (control?.unlessUnread === undefined || outcome.status !== "passed") return [trial];
  const { files, word } = control.unlessUnread;
  const broken: Control = { name: `${control.name}, unreadable`, files, mustFail: null };
  const unread = { showsNothing: true } as const;
  const here = (await run("result", broken))!;
  const before = here.outcome.status === "passed" ? await run("base", broken) : null;
  const asked = [here, ...(before === null ? [] : [before])].map((each) => ({ ...each, ...unread }));
  const isRead = here.outcome.status !== "passed" || complains(before?.outcome.log ?? "", word, [...files.keys()]);
  return [isRead ? trial : { ...trial, ...unread }, ...asked];
}

/** Most interpreters show the line they cannot read; a plain shell says where it stands. */
const complains = (log: string, word: string, paths: readonly string[]): boolean =>
  log.includes(word) ||
  paths.some((path) =>
    log.split("\n").some((line) => line.includes(path.split("/").at(-1)!) && /syntax error/i.test(line)),
  );

/** Where nothing is the work, what is known of the result is known of the base. */
const asBase = (trials: readonly Trial[]): Trial[] =>
  trials.filter(({ control }) => control === null).map((trial) => ({ ...trial, tree: "base", durationMs: 0 }));

/** Runs that were really made. */
export const runsMade = (trials: readonly Trial[]): number => trials.filter(({ durationMs }) => durationMs > 0).length;
