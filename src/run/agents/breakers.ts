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

/** Whether the run as a whole has spent what it may. The way on adds the same again to what was spent. */
export function runBreaker(spent: Spent, budget: Budget): Trip | null {
  if (budget.timeMs !== undefined && spent.ms >= budget.timeMs) {
    return trip(
      "time",
      `the run took ${seconds(spent.ms)} of ${seconds(budget.timeMs)}`,
      `time=${timeWord(spent.ms + budget.timeMs)}`,
    );
  }
  if (budget.tokens !== undefined && spent.tokens >= budget.tokens) {
    return trip(
      "tokens",
      `agents used ${spent.tokens} of ${budget.tokens} tokens`,
      `tokens=${Math.ceil(spent.tokens + budget.tokens)}`,
    );
  }
  if (budget.costUsd !== undefined && spent.costUsd >= budget.costUsd) {
    const more = Math.ceil((spent.costUsd + budget.costUsd) * 100) / 100;
    return trip("cost", `agents cost $${spent.costUsd.toFixed(2)} of $${budget.costUsd}`, `cost=${more}`);
  }
  return null;
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
