// Every request by every contender, as often as wanted. What has come to its end is not done again; what was stopped goes on.
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { NutError } from "../../../errors.js";
import { renameOver, temporaryName } from "../../../files/index.js";
import type { Context } from "../../../operation.js";
import { askConsent } from "../../../request/consent/consent.js";
import { assertHeld } from "../../../request/consent/held.js";
import { RunReader, runIds, runsFolder } from "../../../run/index.js";
import type { Try, TryResult } from "../../../schema/scorecard.js";
import { openProject } from "../../../state/index.js";
import { type Beside, prepareRun, type RunAsked } from "../run/prepare-run.js";
import type { RunResult } from "../run/result.js";
import resume from "../run/resume.js";
import { findReviewer, findRunner } from "../run/runner.js";
import { type Ended, type Piece, sideBySide } from "../run/side-by-side.js";
import { type Contender, NOOP, ORACLE } from "./contenders.js";
import type { RaceFlags } from "./race-flags.js";
import type { Subject, Tries, Wanted } from "./tries.js";

export interface Making {
  readonly subjects: readonly Subject[];
  readonly contenders: readonly Contender[];
  readonly flags: RaceFlags;
  readonly tries: Tries;
  /** The command line that goes on with it. */
  readonly goOn: string;
}

export const Unbegun = z.object({
  request: z.string(),
  contender: z.string(),
  trial: z.int(),
  why: z.string(),
});
type Unbegun = z.output<typeof Unbegun>;

export interface Made {
  /** Made now or before. */
  readonly tries: Try[];
  /** What was refused before there was a run. */
  readonly unbegun: Unbegun[];
}

/** Agents at once, when nobody says how many. */
const JOBS = 4;

/** Everybody who takes part, and those that only show what a score means. */
export const everybody = (contenders: readonly Contender[]): Contender[] => [...contenders, NOOP, ORACLE];

/** Throws before anything is made when one could not be begun, and INTERRUPTED. */
export async function makeTries(making: Making, context: Context): Promise<Made> {
  const { subjects, contenders, flags, tries } = making;
  const wanted = subjects.flatMap((subject) => wantedOf(subject, contenders, flags.trials));
  const open = wanted.filter((each) => tries.read(each)?.result?.final !== true);
  if (open.length > 0) await assertCanBegin(making, context);
  const jobs = flags.jobs ?? JOBS;
  const atOnce = Math.max(1, Math.min(jobs, open.length));
  const beside: Beside = { ids: new Set(), outputs: new Set() };
  const share = Math.floor(jobs / atOnce);
  const pieces = open.map((each) => pieceOf(each, { ...making, beside, share }));
  const ends = await sideBySide(pieces, { atOnce, context, goOn: making.goOn });
  const unbegun = open.flatMap((each, at) => {
    const { error } = ends[at]!;
    return error === undefined || tries.read(each) !== null ? [] : [refusalOf(each, error.message)];
  });
  return { tries: wanted.flatMap((each) => tries.read(each) ?? []), unbegun };
}

const refusalOf = ({ subject, contender, trial }: Wanted, why: string): Unbegun => ({
  request: subject.name,
  contender: contender.label,
  trial,
  why,
});

function wantedOf(subject: Subject, contenders: readonly Contender[], trials: number): Wanted[] {
  const times = Array.from({ length: trials }, (_, at) => at + 1);
  const tried = times.flatMap((trial) => contenders.map((contender) => ({ subject, contender, trial })));
  const standIns = subject.oracle === undefined ? [NOOP] : [NOOP, ORACLE];
  return [...standIns.map((contender) => ({ subject, contender, trial: 1 })), ...tried];
}

/** The programs are there, and whoever must be asked is asked once for each request. */
async function assertCanBegin(making: Making, context: Context): Promise<void> {
  const { subjects, contenders, flags, tries } = making;
  const { noSandbox, identity, yes, reviewer, reviewerCommand } = flags;
  for (const { driver, command } of contenders) await findRunner({ driver, command, env: context.env, noSandbox });
  await findReviewer({ reviewer, reviewerCommand, noSandbox }, context.env);
  for (const { path } of subjects) {
    await assertHeld({ sources: [path], noSandbox, identity }, context);
    await askConsent({ sources: [path], yes, noSandbox, identity, agents: true }, context);
  }
  // Flags are looked at once, by what every try goes through.
  const [subject, contender] = [subjects[0]!, contenders[0]!];
  const beginning = { ...making, beside: { ids: new Set<string>(), outputs: new Set<string>() }, share: 1 };
  const output = tries.delivery({ subject, contender, trial: 1 }, true);
  await prepareRun({ ...askedOf({ subject, contender, trial: 1 }, beginning, output), dryRun: true }, context);
}

interface Beginning extends Making {
  readonly beside: Beside;
  /** Agents of one try. */
  readonly share: number;
}

function pieceOf(wanted: Wanted, making: Beginning): Piece {
  const { subject, contender, trial } = wanted;
  const { tries, subjects, flags, goOn } = making;
  const which = `${contender.label}${flags.trials > 1 && !contender.standIn ? ` ${trial}` : ""}`;
  const name = subjects.length === 1 ? which : `${subject.name}, ${which}`;
  let run: string | undefined;
  return {
    what: name,
    name,
    fields: { request: subject.name, contender: contender.label, trial },
    run: () => run,
    again: goOn,
    async start(context) {
      const begin = (id: string) => {
        run = id;
        tries.write(wanted, { run: id });
      };
      try {
        const result = await goOnOrBegin(wanted, making, begin, context);
        tries.write(wanted, {
          run: result.run,
          result: resultOf(wanted, making, { status: statusOf(result), result }, context),
        });
        return result;
      } catch (error) {
        if (run !== undefined) keepEnd(wanted, making, { run, error }, context);
        throw error;
      }
    },
  };
}

/** A run that left nothing to go on with leaves no try either. */
function keepEnd(
  wanted: Wanted,
  making: Beginning,
  { run, error }: { readonly run: string; readonly error: unknown },
  context: Context,
): void {
  const { tries, goOn } = making;
  if (!runIds(runsHere(context)).includes(run)) {
    tries.forget(wanted);
    return;
  }
  const isStopped = error instanceof NutError && error.code === "INTERRUPTED";
  const message = error instanceof Error ? error.message : String(error);
  const ended: Ended = { status: isStopped ? "paused" : "refused", error: { code: "", message, hint: goOn } };
  tries.write(wanted, { run, result: resultOf(wanted, making, ended, context) });
}

const statusOf = ({ delivery }: RunResult): Ended["status"] => delivery?.result.status ?? "paused";

/** A try that was stopped is the same run, further on. */
async function goOnOrBegin(
  wanted: Wanted,
  making: Beginning,
  begin: (run: string) => void,
  context: Context,
): Promise<RunResult> {
  const known = making.tries.read(wanted)?.run;
  if (known !== undefined && runIds(runsHere(context)).includes(known)) {
    begin(known);
    return resume.run(resume.input.parse({ run: known, yes: true }), context);
  }
  const output = making.tries.delivery(wanted, making.subjects.length === 1);
  mkdirSync(dirname(output), { recursive: true });
  const ready = await prepareRun(askedOf(wanted, making, output), context, making.beside);
  begin(ready.options.id);
  return ready.start(context);
}

const runsHere = ({ cwd, env }: Context) => runsFolder(openProject(cwd, { env }).root);

function askedOf({ subject, contender }: Wanted, { flags, share }: Beginning, output: string): RunAsked {
  const { with: _, trials: __, jobs: ___, reviewer, reviewerCommand, plan, ...shared } = flags;
  const { standIn, driver, model, command } = contender;
  const reviews = standIn ? {} : { reviewer, reviewerCommand };
  return {
    ...shared,
    ...reviews,
    request: subject.path,
    driver,
    ...(model === undefined ? {} : { model }),
    ...(command === undefined ? {} : { command }),
    ...(driver === "oracle" ? { oracle: subject.oracle } : {}),
    // What is no agent cannot plan, and nobody reviews it.
    plan: standIn ? "work" : plan,
    jobs: share,
    fallback: [],
    handOut: [],
    reviewPlan: false,
    sign: false,
    quick: false,
    dryRun: false,
    // It was asked about already; and a task that fails for good is this try's result, not a question.
    yes: true,
    output,
  };
}

/** Over its budget is an end; stopped from outside is none. */
const OVER: readonly string[] = ["time", "tokens", "cost", "agent", "stall", "loop"];

function resultOf(wanted: Wanted, making: Beginning, ended: Ended, context: Context): TryResult {
  const { result, error } = ended;
  const { state } = new RunReader(runsHere(context), runOf(wanted, making)).read();
  const report = state.accepted?.report;
  const delivered = result?.delivery?.result;
  const checklist = delivered?.acceptance_results?.checklist ?? [];
  const reviews = [...state.agents.values()].flatMap(({ task, end }) =>
    state.tasks.get(task)?.task.kind === "review" && end?.verdict !== undefined ? [end.verdict] : [],
  );
  const { passed = 0, failed = 0, proven = 0 } = report?.counts ?? {};
  const changes = report?.changes ?? [];
  return {
    outcome: ended.status,
    final: result?.status === "delivered" || OVER.includes(result?.paused?.reason ?? ""),
    why: delivered?.summary ?? result?.paused?.message ?? error?.message ?? "",
    criteria: { total: report?.results.length ?? 0, passed, failed, proven },
    checklist: { total: checklist.length, passed: checklist.filter(({ status }) => status === "passed").length },
    review: reviews.at(-1) ?? null,
    tokens: state.spent.tokens,
    cost_usd: state.spent.costUsd,
    ms: state.spent.ms,
    sessions: state.agents.size,
    files: changes.length,
    lines: changes.reduce((sum, { kind, lines, diffLines }) => sum + (kind === "created" ? lines : diffLines), 0),
    ...keptDelivery(wanted, result),
  };
}

const runOf = (wanted: Wanted, { tries }: Beginning): string => tries.read(wanted)!.run;

/** What is no agent's work is not kept: nobody should take it for a delivery. */
function keptDelivery({ contender }: Wanted, result: RunResult | undefined): Pick<TryResult, "delivery" | "hash"> {
  if (result?.delivery === undefined) return {};
  const { path, hash } = result.delivery;
  if (!contender.standIn) return { delivery: path, hash };
  rmSync(path, { force: true });
  return {};
}

/** A copy of the best beside the others, whole or not at all. */
export function keepBest(folder: string, delivery: string): string {
  const best = join(folder, "best.nut");
  const temporary = temporaryName(best);
  copyFileSync(delivery, temporary);
  renameOver(temporary, best);
  return best;
}
