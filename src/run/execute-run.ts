// A run from beginning to end: open, plan, work, accept, deliver, close. Each step looks at the journal first and does only
// what is not done yet, so running it again after any kind of end is how a run goes on.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NutError, shellWord } from "../errors.js";
import { atomicWrite } from "../files/index.js";
import { Delivery } from "../schema/delivery.js";
import type { AcceptedReport, TaskAnswer } from "../schema/journal.js";
import { forgetTree } from "../trees/tree.js";
import { startAwakeClock } from "./agents/awake-clock.js";
import type { Trip } from "./agents/breakers.js";
import { openRun } from "./open/open-run.js";
import { makePlan, planFacts, readPlanFile } from "./plan/make-plan.js";
import { readPlan } from "./plan/plan.js";
import type { RunFolder } from "./record/folder.js";
import { JournalFollower } from "./record/journal.js";
import { lockRun } from "./record/lock.js";
import { closeIntoHistory, mirrorPlan } from "./record/mirror.js";
import { clearAway } from "./record/prune.js";
import type { RunState, TaskState } from "./record/run-state.js";
import { forgetStop, watchForStop } from "./record/stop-run.js";
import { Pause, type Run, type RunInput, record, stretchMs } from "./run.js";
import { workThrough } from "./work/work.js";

export interface RunOutcome {
  readonly run: string;
  readonly status: "delivered" | "paused";
  /** The run was finished before: this is what it recorded then, and nothing was run now. */
  readonly recorded?: true;
  readonly delivery?: {
    readonly path: string;
    readonly hash: string;
    readonly request: string;
    /** The tree the work began with, when it is not the request's own. */
    readonly base?: string;
    /** Keys the person named, which open the request. */
    readonly identity?: readonly string[];
    /** The branch it was brought to. */
    readonly branch?: string;
    readonly result: Delivery;
  };
  readonly paused?: { readonly reason: string; readonly message: string; readonly hint: string };
}

export interface Reply {
  /** For tasks that wait for a word: what to do with them. */
  readonly answer: TaskAnswer;
  readonly text?: string;
  /** Only this one; without it, all of them. */
  readonly task?: number;
}

/** Works on a run until it is delivered or has to wait. Throws INTERRUPTED after pausing for a signal. */
export async function executeRun(input: RunInput, reply: Reply | null = null): Promise<RunOutcome> {
  const lock = lockRun(input.folder);
  let run: Run | null = null;
  let unwatch = () => {};
  const awake = input.clock === undefined ? startAwakeClock() : null;
  try {
    forgetStop(input.folder);
    const state = new JournalFollower(input.folder.journal).look();
    if (state.delivered !== null && state.closed) return { ...finished({ ...input, state }), recorded: true };
    assertFits(input, state, reply);
    run = await openRun(awake === null ? input : { ...input, clock: awake.read });
    unwatch = watchForStop(input.folder, run.halt);
    if (run.state.paused !== null) record(run, { type: "continued" });
    if (input.switched !== undefined)
      record(run, { type: "switched", ...input.switched, reason: "the person said so" });
    if (reply !== null) answerAll(run, reply);
    const source = run.state.agents.size === 0 ? "startup" : "resume";
    await run.events.fire({ type: "session_start", source });
    return await go(run);
  } catch (error) {
    if (run === null || run.state.closed) throw error;
    return pauseFor(run, error);
  } finally {
    unwatch();
    awake?.stop();
    await run?.secrets.close();
    await run?.events.settled();
    run?.journal.close();
    run?.leave();
    for (const folder of [input.folder.base, input.folder.main]) forgetTree(folder);
    forgetStop(input.folder);
    lock.release();
  }
}

/** What a person says must be about something that waits for it, before anything is done. */
function assertFits({ folder, options, editedPlan }: RunInput, state: RunState, reply: Reply | null): void {
  const task = reply?.task;
  if (task !== undefined && !asks(state.tasks.get(task))) {
    throw new NutError("RUN_IDLE", `task ${task} of run ${folder.id} asks nothing`, { hint: "nexus runs" });
  }
  if (editedPlan !== undefined && !(options.review_plan && state.plan !== null && !state.reviewed)) {
    throw new NutError("RUN_IDLE", `run ${folder.id} does not wait for its plan to be read`, {
      hint: `nexus resume ${folder.id}`,
    });
  }
}

const asks = (task: TaskState | undefined) => task?.status === "failed" && task.question !== undefined;

async function go(run: Run): Promise<RunOutcome> {
  await planRun(run);
  await reviewPlan(run);
  await mirrorPlan(run.project, run.state.plan!, run.state, run.context.now());
  const accepted = await workAndAccept(run);
  const { deliver, isDelivered } = await import("./deliver/index.js");
  if (!(await isDelivered(run, accepted))) await deliver(run, accepted);
  throwIfHalted(run);
  // Nobody works there any more. Removing takes longer than what is left to do, so both are done at once.
  const { slots, scratch, homes } = run.folder;
  await Promise.all([close(run), clearAway(run.folder, [slots, scratch, homes])]);
  return finished(run);
}

async function close(run: Run): Promise<void> {
  await closeIntoHistory(run.project, run.outer, run.context.now());
  await run.events.fire({ type: "session_end", reason: "delivered" });
  record(run, { type: "closed" });
}

/**
 * Works until the acceptance holds, or nobody can make it hold. The report returned is about the tree as it is now, and was
 * made by this process: what a journal says of an acceptance is a record, and a record can be written by anyone.
 */
async function workAndAccept(run: Run): Promise<AcceptedReport> {
  let latest: { readonly versions: number; readonly report: AcceptedReport } | null = null;
  for (;;) {
    await workThrough(run);
    throwIfHalted(run);
    if (await settleQuestions(run)) continue;
    const { addRepair, addReview } = await import("./deliver/index.js");
    const versions = run.state.versions.length;
    const report: AcceptedReport = latest?.versions === versions ? latest.report : await accept(run);
    latest = { versions, report };
    const more =
      report.verdict === "failed" ? !hasSkipped(run) && (await addRepair(run, report)) : await addReview(run);
    if (!more) return report;
  }
}

async function accept(run: Run) {
  const { acceptRun } = await import("./deliver/index.js");
  const report = await acceptRun(run);
  throwIfHalted(run);
  return report;
}

const hasSkipped = (run: Run) => [...run.state.tasks.values()].some(({ status }) => status === "skipped");

async function planRun(run: Run): Promise<void> {
  if (run.state.plan !== null) return;
  const plan = await makePlan(run);
  throwIfHalted(run);
  record(run, { type: "planned", plan });
  const message = `${plan.tasks.length === 1 ? "1 task" : `${plan.tasks.length} tasks`} to do (plan: ${plan.source})`;
  run.context.progress({ type: "planned", source: plan.source, tasks: plan.tasks, message });
}

/** Stops once for a person to read the plan; the file they may edit is read again before anything starts. */
async function reviewPlan(run: Run): Promise<void> {
  if (!run.options.review_plan || run.state.reviewed) return;
  const { folder, state } = run;
  // Going on agrees to a plan that was left to be read, and to none whose reader was interrupted.
  if (run.editedPlan === undefined && !(state.shown && existsSync(folder.plan))) {
    const { goal, decisions, issues, tasks } = state.plan!;
    if (!existsSync(folder.plan))
      atomicWrite(folder.plan, `${JSON.stringify({ goal, decisions, issues, tasks }, null, 2)}\n`);
    const agreed = run.context.ask !== null && (await run.context.ask.confirm(`run this plan (${folder.plan})?`));
    if (!agreed) {
      throw new Pause("review", `the plan waits to be read: ${folder.plan}`, `nexus resume ${folder.id}`);
    }
  }
  const edited = readPlan(state.plan!.source, run.editedPlan ?? readPlanFile(folder.plan), planFacts(run));
  record(run, { type: "planned", plan: edited });
  record(run, { type: "reviewed" });
}

/** Asks about tasks that failed for good. true when one of them is to be tried again. */
async function settleQuestions(run: Run): Promise<boolean> {
  const open = [...run.state.tasks.values()].filter(
    ({ status, question }) => status === "failed" && question !== undefined,
  );
  for (const { task, question } of open) {
    if (run.options.yes) {
      record(run, { type: "answered", task: task.id, answer: "deliver" });
      continue;
    }
    if (run.context.ask === null) {
      throw new Pause("question", question!, `nexus resume ${run.folder.id} --answer "what to do differently"`);
    }
    const text = (
      await run.context.ask.text(`${question}\nWhat should the next try do differently? (empty: deliver what is there)`)
    ).trim();
    record(run, {
      type: "answered",
      task: task.id,
      answer: text === "" ? "deliver" : "retry",
      ...(text === "" ? {} : { text }),
    });
  }
  return open.some(({ status }) => (status as string) === "pending");
}

function answerAll(run: Run, { answer, text, task: only }: Reply): void {
  for (const waiting of run.state.tasks.values()) {
    const { task } = waiting;
    if (!asks(waiting) || (only ?? task.id) !== task.id) continue;
    record(run, { type: "answered", task: task.id, answer, ...(text === undefined ? {} : { text }) });
  }
}

function throwIfHalted(run: Run): void {
  if (!run.halt.signal.aborted) return;
  const reason = run.halt.signal.reason as Trip | string;
  if (typeof reason === "object" && reason !== null && "goOn" in reason) {
    throw new Pause(reason.breaker, reason.message, `nexus resume ${run.folder.id} ${reason.goOn}`.trimEnd());
  }
  throw new Pause("interrupted", "the run was interrupted", `nexus resume ${run.folder.id}`);
}

/** Writes down that the run waits, and why. A real error is written down too, and thrown on. */
function pauseFor(run: Run, error: unknown): RunOutcome {
  const halted = run.halt.signal.aborted && run.halt.signal.reason !== "error";
  let pause = error instanceof Pause ? error : null;
  if (pause === null && halted) {
    try {
      throwIfHalted(run);
    } catch (reason) {
      pause = reason as Pause;
    }
  }
  const ms = stretchMs(run);
  const { reason, message, hint } = pause ?? {
    reason: "error",
    message: run.secrets.scrub(error instanceof Error ? error.message : String(error)),
    hint: `nexus resume ${run.folder.id}`,
  };
  record(run, { type: "paused", reason, message, hint, ms });
  if (pause === null) throw error;
  // Whoever interrupts gets no answer; everybody else reads there why, and how to go on.
  const told = reason === "interrupted" ? `paused: ${message}; go on with: ${hint}` : "paused";
  run.context.progress({ type: "paused", reason, hint, message: told });
  if (reason === "interrupted") throw new NutError("INTERRUPTED", message, { hint });
  return { run: run.folder.id, status: "paused", paused: { reason, message, hint } };
}

function finished({ state, options, folder }: Pick<Run, "state" | "options" | "folder">): RunOutcome {
  const { path, hash } = state.delivered!;
  const { request, repo, identity = [] } = options;
  const base = { ...(repo === undefined ? {} : { base: repo }), ...(identity.length === 0 ? {} : { identity }) };
  const result = readResult(folder, path);
  return { run: folder.id, status: "delivered", delivery: { path, hash, request, ...base, result } };
}

function readResult(folder: RunFolder, bundle: string): Delivery {
  const path = join(folder.delivery, "delivery/result.json");
  try {
    return Delivery.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    throw new NutError("RUN_DAMAGED", `${path} cannot be read; what was delivered is in ${bundle}`, {
      hint: `nutshell verify ${shellWord(bundle)} --request '<request>' --rerun`,
      data: { path, bundle },
      cause: error,
    });
  }
}
