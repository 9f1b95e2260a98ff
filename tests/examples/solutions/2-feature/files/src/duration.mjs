const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Whole milliseconds of a text such as `1h30m`. Throws RangeError. */
export function parseDuration(text) {
  const refuse = () => new RangeError(`"${text}" is not a duration such as 1h30m`);
  let rest = text.trim();
  let total = 0;
  let last = Number.POSITIVE_INFINITY;
  if (rest === "") throw refuse();
  while (rest !== "") {
    const found = /^(\d+(?:\.\d+)?)(ms|d|h|m|s)\s*/.exec(rest);
    if (found === null) throw refuse();
    const size = UNITS[found[2]];
    if (size >= last) throw refuse();
    last = size;
    total += Number(found[1]) * size;
    rest = rest.slice(found[0].length);
  }
  return Math.round(total);
}
