/** Past this many differing lines an exact answer costs more than it tells; then lines are counted without their order. */
const EXACT_LIMIT = 1_000;

export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return text.endsWith("\n") ? lines : lines + 1;
}

/** Lines removed plus lines added, as `diff` counts them. */
export function diffLines(before: string, after: string): number {
  const [a, b] = trimCommon(split(before), split(after));
  return editDistance(a, b) ?? unorderedDistance(a, b);
}

function split(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function trimCommon(a: string[], b: string[]): [string[], string[]] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

/** Myers' shortest edit script, its length only; null past the limit. */
function editDistance(a: readonly string[], b: readonly string[]): number | null {
  const furthest = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= Math.min(a.length + b.length, EXACT_LIMIT); edits += 1) {
    for (let k = -edits; k <= edits; k += 2) {
      const down = furthest.get(k + 1) ?? -1;
      const right = furthest.get(k - 1) ?? -1;
      let x = k === -edits || (k !== edits && right < down) ? down : right + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return edits;
    }
  }
  return null;
}

function unorderedDistance(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of a) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of b) counts.set(line, (counts.get(line) ?? 0) - 1);
  let distance = 0;
  for (const count of counts.values()) distance += Math.abs(count);
  return distance;
}
