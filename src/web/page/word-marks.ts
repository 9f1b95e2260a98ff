// What differs inside a line that was changed.

export interface MarkedPart {
  readonly text: string;
  readonly isChanged: boolean;
}

/** Both lines in parts. Lines with little in common are marked as a whole, which reads better than shreds. */
export function wordMarks(left: string, right: string): readonly [MarkedPart[], MarkedPart[]] {
  const [a, b] = [words(left), words(right)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const kept =
    a.slice(0, start).join("").trim().length +
    a
      .slice(a.length - end)
      .join("")
      .trim().length;
  if (kept === 0) return [[{ text: left, isChanged: false }], [{ text: right, isChanged: false }]];
  return [parts(a, start, end), parts(b, start, end)];
}

const words = (line: string) => line.slice(0, 4_000).match(/\w+|\s+|[^\w\s]/g) ?? [];

function parts(all: readonly string[], start: number, end: number): MarkedPart[] {
  return [
    { text: all.slice(0, start).join(""), isChanged: false },
    { text: all.slice(start, all.length - end).join(""), isChanged: true },
    { text: all.slice(all.length - end).join(""), isChanged: false },
  ].filter(({ text }) => text !== "");
}
