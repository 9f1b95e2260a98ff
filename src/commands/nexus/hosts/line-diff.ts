// A small unified diff for showing a person what is about to change in their settings.
const CONTEXT = 2;
const MAX_CELLS = 4_000_000;

export interface DiffLine {
  readonly sign: " " | "+" | "-" | "@";
  readonly text: string;
}

export function lineDiff(before: string | null, after: string | null): DiffLine[] {
  const a = lines(before);
  const b = lines(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = changed(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const all: DiffLine[] = [...a.slice(0, start).map(kept), ...middle, ...a.slice(a.length - end).map(kept)];
  return hunks(all);
}

const kept = (text: string): DiffLine => ({ sign: " ", text });
const lines = (text: string | null): string[] =>
  text === null || text === "" ? [] : text.replace(/\n$/, "").split("\n");

/** Longest common subsequence; settings files are small, and what is not is shown as replaced. */
function changed(a: readonly string[], b: readonly string[]): DiffLine[] {
  const all = (): DiffLine[] => [
    ...a.map((text) => ({ sign: "-" as const, text })),
    ...b.map((text) => ({ sign: "+" as const, text })),
  ];
  if (a.length === 0 || b.length === 0 || a.length * b.length > MAX_CELLS) return all();
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i]![j] = a[i] === b[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    }
  }
  const result: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      result.push(kept(a[i]!));
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || table[i + 1]![j]! >= table[i]![j + 1]!))
      result.push({ sign: "-", text: a[i++]! });
    else result.push({ sign: "+", text: b[j++]! });
  }
  return result;
}

function hunks(all: readonly DiffLine[]): DiffLine[] {
  const near = all.map((_, i) => all.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ sign }) => sign !== " "));
  return all.flatMap((line, i) =>
    near[i] ? [line] : near[i - 1] === true && near.slice(i).includes(true) ? [{ sign: "@" as const, text: "…" }] : [],
  );
}
