// What stops a run that agents would not stop themselves. Pure: spending and signs of life in, a reason or null out.
import type { Budget } from "../../schema/run.js";

export interface Spent {
  /** Time with the run going, pauses aside. */
  readonly ms: number;
  readonly tokens: number;
  readonly costUsd: number;
}

export interface Trip {
  readonly breaker: "time" | "tokens" | "cost" | "agent" | "stall" | "loop" | "paused" | "cancelled";
  /** What happened, for a person. */
  readonly message: string;
  /** The flag that lets the run go on. */
  readonly goOn: string;
}

/** Whether the run as a whole has spent what it may. The way on adds the same again to what was spent, of every limit reached. */
export function runBreaker(spent: Spent, budget: Budget): Trip | null {
  const { timeMs = Infinity, tokens = Infinity, costUsd = Infinity } = budget;
  const reached: readonly (readonly [Trip["breaker"], boolean, () => string, () => string])[] = [
    [
      "time",
      spent.ms >= timeMs,
      () => `the run took ${seconds(spent.ms)} of ${seconds(timeMs)}`,
      () => `time=${timeWord(spent.ms + timeMs)}`,
    ],
    [
      "tokens",
      spent.tokens >= tokens,
      () => `agents used ${spent.tokens} of ${tokens} tokens`,
      () => `tokens=${Math.ceil(spent.tokens + tokens)}`,
    ],
    [
      "cost",
      spent.costUsd >= costUsd,
      () => `agents cost $${spent.costUsd.toFixed(2)} of $${costUsd}`,
      () => `cost=${Math.ceil((spent.costUsd + costUsd) * 100) / 100}`,
    ],
  ];
  const over = reached.filter(([, isOver]) => isOver);
  const [first] = over;
  if (first === undefined) return null;
  return trip(first[0], over.map(([, , words]) => words()).join("; "), over.map(([, , , more]) => more()).join(","));
}

export interface AgentSigns {
  readonly startedMs: number;
  readonly lastEventMs: number;
  /** How often the latest tool call was repeated without another in between. */
  readonly repeats: number;
  readonly lastCall: string;
}

/** Whether one agent is over its time, silent, or calling the same thing again and again. */
export function agentBreaker(signs: AgentSigns, nowMs: number, budget: Budget): Trip | null {
  if (nowMs - signs.startedMs >= budget.agentMs) {
    return trip("agent", `one agent ran for ${seconds(budget.agentMs)}`, `agent=${timeWord(budget.agentMs * 2)}`);
  }
  if (nowMs - signs.lastEventMs >= budget.stallMs) {
    return trip(
      "stall",
      `an agent showed no progress for ${seconds(budget.stallMs)}`,
      `stall=${timeWord(budget.stallMs * 2)}`,
    );
  }
  if (signs.repeats >= budget.loop) {
    return trip("loop", `an agent called ${signs.lastCall} ${signs.repeats} times in a row`, `loop=${budget.loop * 2}`);
  }
  return null;
}

/** Node's timers cannot wait longer, and then do not wait at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** A deadline that is over must not make a busy loop. */
const SHORTEST_TIMER_MS = 10;

/** How long until one of the clocks could run out, so that nobody has to poll. */
export function nextDeadline(signs: AgentSigns, spent: Spent, nowMs: number, budget: Budget): number {
  const deadline = Math.min(
    LONGEST_TIMER_MS,
    signs.startedMs + budget.agentMs - nowMs,
    signs.lastEventMs + budget.stallMs - nowMs,
    (budget.timeMs ?? Number.POSITIVE_INFINITY) - spent.ms,
  );
  return Math.max(SHORTEST_TIMER_MS, deadline);
}

function trip(breaker: Trip["breaker"], message: string, budget: string): Trip {
  return { breaker, message, goOn: `--budget ${budget}` };
}

const seconds = (ms: number) => (ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1_000)} s`);
const timeWord = (ms: number) => (ms < 2_000 ? `${Math.ceil(ms)}ms` : `${Math.ceil(ms / 1_000)}s`);
