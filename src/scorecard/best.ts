// Which of several deliveries of one request is kept. One rule, said wherever it is used.
import type { Try, TryResult } from "../schema/scorecard.js";

export const RULE =
  "completed before partial, more criteria proven, fewer failed, more of the checklist judged passed, lower cost (none told comes last), fewer tokens, fewer lines, less time, then the order they were named in";

const RANK: Readonly<Record<TryResult["outcome"], number>> = {
  completed: 0,
  partial: 1,
  blocked: 2,
  failed: 3,
  paused: 4,
  refused: 5,
};

/** Smaller is better, the first difference counts. */
function keys({ outcome, criteria, checklist, cost_usd: cost, tokens, lines, ms }: TryResult): number[] {
  return [
    RANK[outcome],
    -criteria.proven,
    criteria.failed,
    -checklist.passed,
    cost > 0 ? cost : Number.POSITIVE_INFINITY,
    tokens > 0 ? tokens : Number.POSITIVE_INFINITY,
    lines,
    ms,
  ];
}

function compareTries(a: TryResult, b: TryResult): number {
  const [left, right] = [keys(a), keys(b)];
  for (const [at, key] of left.entries()) {
    if (key !== right[at]!) return key < right[at]! ? -1 : 1;
  }
  return 0;
}

/** The best that left something worth having; null when none did. */
export function bestOf<T extends Pick<Try, "result">>(tries: readonly T[]): T | null {
  const worth = tries.filter(({ result }) => result?.delivery !== undefined && RANK[result.outcome] <= RANK.partial);
  return worth.reduce<T | null>(
    (best, each) => (best === null || compareTries(each.result!, best.result!) < 0 ? each : best),
    null,
  );
}
