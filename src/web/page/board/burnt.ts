// How much was used by when, over sessions that may run at the same time.

export interface Use {
  /** Moments on any one scale. */
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

/** What all of them had used at each moment at which one begins or ends, from 0 to 100. It only ever grows. */
export function burnt(uses: readonly Use[]): [moment: number, sum: number][] {
  const moments = [...new Set([0, ...uses.flatMap(({ from, to }) => [from, to]), 100])].sort((a, b) => a - b);
  return moments.map((moment) => [moment, uses.reduce((sum, use) => sum + use.amount * shareBy(use, moment), 0)]);
}

function shareBy({ from, to }: Use, moment: number): number {
  if (moment >= to) return 1;
  return moment <= from ? 0 : (moment - from) / (to - from);
}
