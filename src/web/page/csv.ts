// Tables as text: fields between commas or tabs, quoted where they hold one.

/** Rows of fields; null when it is no table: no separator, or quotes that never end. */
export function csvRows(text: string, most: number): string[][] | null {
  const separator = separatorOf(text);
  if (separator === null) return null;
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length && rows.length < most) {
    const field = text[at] === '"' ? quoted(text, at) : plain(text, at, separator);
    if (field === null) return null;
    row.push(field.value);
    at = field.end;
    if (text[at] === separator) at += 1;
    else {
      if (text[at] === "\r") at += 1;
      if (text[at] !== undefined && text[at] !== "\n") return null;
      at += 1;
      rows.push(row);
      row = [];
    }
  }
  if (row.length > 0) rows.push([...row, ""]);
  return rows;
}

/** Whichever the first line has more of. */
function separatorOf(text: string): string | null {
  const line = text.slice(0, 10_000).split("\n")[0]!;
  const counts = [",", ";", "\t"].map((sign) => [line.split(sign).length - 1, sign] as const);
  const [count, sign] = counts.reduce((best, next) => (next[0] > best[0] ? next : best));
  return count === 0 ? null : sign;
}

function plain(text: string, at: number, separator: string): { value: string; end: number } {
  let end = at;
  while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return { value: text.slice(at, end), end };
}

function quoted(text: string, at: number): { value: string; end: number } | null {
  let value = "";
  for (let from = at + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return null;
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    from = quote + 2;
  }
}
