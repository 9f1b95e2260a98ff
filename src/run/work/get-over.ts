// What a run does when a session ended and the work is not to blame. A refused login and a model nobody has wait for a person;
// a lost session is begun anew; a vendor that limits, is overloaded or cannot be reached is waited for, longer each time, and then another
// program takes over or the run pauses. None of it costs the task a try.
import type { AgentTrouble } from "../../schema/journal.js";
import type { AgentRunner } from "../agents/agent.js";
import { runBreaker } from "../agents/breakers.js";
import { namedModel, Pause, type Run, record, spentSoFar } from "../run.js";

/** How long a program is waited for in all, when the budget says nothing. */
const DEFAULT_WAIT_MS = 15 * 60_000;
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 5 * 60_000;

/** How a program was waited for since it last answered as it should. */
export interface BackOff {
  times: number;
  waitedMs: number;
  /** By the run's clock: nobody starts it before. */
  untilMs: number;
  /** By the run's clock: what programs waited by themselves is counted up to here. */
  countedMs: number;
}

const backOffOf = (run: Run, { name }: AgentRunner): BackOff => {
  const so = run.backOffs.get(name) ?? { times: 0, waitedMs: 0, untilMs: 0, countedMs: 0 };
  run.backOffs.set(name, so);
  return so;
};

/** A session waited by itself from then until now, in vain. Several at once wait for the same thing. */
export function waitedInside(run: Run, runner: AgentRunner, fromMs: number): void {
  const so = backOffOf(run, runner);
  const now = run.clock();
  so.waitedMs += Math.max(0, now - Math.max(fromMs, so.untilMs, so.countedMs));
  so.countedMs = now;
}

/** Comes back when a session may be started again. Throws Pause when a person, or more time than allowed, is needed. */
export async function getOver(run: Run, runner: AgentRunner, trouble: AgentTrouble): Promise<void> {
  const { kind, message } = trouble;
  if (kind === "session" || run.halt.signal.aborted) return;
  // Another program took over while this one was still at work.
  if (runner !== run.runner && runner !== run.reviewer) return;
  if (kind === "login") return getIn(run, runner, message);
  if (kind === "model") throw modelPause(run, runner, message);
  const what = `${runner.name} ${WORDS[kind]} (${message})`;
  const so = backOffOf(run, runner);
  // Somebody beside us waits for the same thing.
  if (so.untilMs > run.clock()) return untilItMayStart(run, runner);
  const ms = waitFor(so, trouble);
  if (so.waitedMs + ms > (run.budget.waitMs ?? DEFAULT_WAIT_MS))
    return takeOver(run, runner, { ...trouble, message: what });
  Object.assign(so, { times: so.times + 1, waitedMs: so.waitedMs + ms, untilMs: run.clock() + ms });
  const said = `${what}; the next try is in ${span(ms)}`;
  record(run, { type: "waiting", program: runner.name, trouble: kind, message: said, ms });
  run.context.progress({ type: "waiting", program: runner.name, trouble: kind, ms, message: said });
  await untilItMayStart(run, runner);
}

/** A login that was lent may have ended on the way: it is renewed once. Otherwise a person has to log in. */
async function getIn(run: Run, runner: AgentRunner, message: string): Promise<void> {
  const isNew =
    !run.renewed.has(runner.name) && (await runner.renewLogin?.(run.halt.signal, namedModel(run, runner))) === true;
  if (!isNew) throw loginPause(run, runner, message);
  run.renewed.add(runner.name);
  run.context.progress({
    type: "login_renewed",
    program: runner.name,
    message: `the login of ${runner.name} was renewed`,
  });
}

/** It answered as it should: what was waited before is forgotten. */
export function gotOver(run: Run, runner: AgentRunner): void {
  run.backOffs.delete(runner.name);
  run.renewed.delete(runner.name);
}

/** Waits until nobody has to wait for this program any more. Returns early when the run is halted. */
export async function untilItMayStart(run: Run, runner: AgentRunner): Promise<void> {
  for (;;) {
    const waitMs = (run.backOffs.get(runner.name)?.untilMs ?? 0) - run.clock();
    if (waitMs <= 0 || run.halt.signal.aborted) return;
    const leftMs = (run.budget.timeMs ?? Number.POSITIVE_INFINITY) - spentSoFar(run).ms;
    await run.sleep(Math.max(1, Math.min(waitMs, leftMs, LONGEST_WAIT_MS)), run.halt.signal);
    const trip = runBreaker(spentSoFar(run), run.budget);
    if (trip !== null && !run.halt.signal.aborted) run.halt.abort(trip);
  }
}

/** What the vendor asks for; otherwise twice as long each time. A vendor whose time is always up would be asked without end. */
function waitFor({ times }: BackOff, { retryAfterMs }: AgentTrouble): number {
  const asked = retryAfterMs !== undefined && times > 0 && retryAfterMs < FIRST_WAIT_MS ? undefined : retryAfterMs;
  return asked ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** times);
}

/** The next program of the person's list, with sessions of its own; without one the run waits for the person. */
function takeOver(run: Run, runner: AgentRunner, { kind, message: what, retryAfterMs }: AgentTrouble): void {
  const next = runner === run.runner ? run.fallbacks.shift() : undefined;
  if (next === undefined) {
    const when = retryAfterMs === undefined ? "" : ` for another ${span(retryAfterMs)}`;
    throw new Pause(kind, `${what}${when}`, `nexus resume ${run.folder.id}`);
  }
  const said = `${next.name} takes over: ${what}`;
  record(run, { type: "switched", from: runner.name, to: next.name, reason: what });
  run.context.progress({ type: "switched", from: runner.name, to: next.name, message: said });
  run.runner = next;
}

function loginPause(run: Run, { name, login }: AgentRunner, message: string): Pause {
  const resume = `nexus resume ${run.folder.id}`;
  return new Pause(
    "login",
    `${name} is not let in: ${message}`,
    login === undefined ? resume : `${login} && ${resume}`,
  );
}

/** Another model is named by the person. The reviewer's is in its own settings, or in the project's. */
function modelPause(run: Run, runner: AgentRunner, message: string): Pause {
  const another = runner === run.runner ? " --model '<name>'" : "";
  return new Pause("model", `${runner.name} has no such model: ${message}`, `nexus resume ${run.folder.id}${another}`);
}

const WORDS = {
  limit: "limits this account",
  overload: "is overloaded",
  transport: "does not answer as it should",
} as const;

function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
