// How far a rate can be trusted. Wilson's interval keeps within 0 and 1 and does not shrink to nothing when all or none of a
// few tries succeed, as the everyday one does.

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The two-sided 95 % quantile of the normal distribution. */
const Z = 1.959963984540054;

export function wilson(successes: number, tries: number): Interval {
  if (tries === 0) return { low: 0, high: 1 };
  const rate = successes / tries;
  const square = Z * Z;
  const middle = rate + square / (2 * tries);
  const reach = Z * Math.sqrt((rate * (1 - rate)) / tries + square / (4 * tries * tries));
  const scale = 1 + square / tries;
  return { low: Math.max(0, (middle - reach) / scale), high: Math.min(1, (middle + reach) / scale) };
}
