// Which lines of a diff are shown: changes and what is near them; the rest stands behind a gap that opens.
import type { DiffLine } from "../../view/model.js";

export type ShownRow =
  | { readonly kind: "line"; readonly at: number; readonly line: DiffLine }
  /** Lines `from` up to, and without, `to`. */
  | { readonly kind: "gap"; readonly from: number; readonly to: number };

/** Unchanged lines kept around a change. */
const AROUND = 4;

/** `opened`: lines that were asked for, by their place in the diff. */
export function shownRows(lines: readonly DiffLine[], opened: ReadonlySet<number>): ShownRow[] {
  const near = new Uint8Array(lines.length);
  for (const [at, { kind }] of lines.entries()) {
    if (kind !== "same") near.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
  }
  for (const at of opened) near[at] = 1;
  const rows: ShownRow[] = [];
  for (let at = 0; at < lines.length; ) {
    const first = at;
    while (at < lines.length && near[at] === 0) at += 1;
    // A gap of one line would take as much room as the line.
    if (at - first > 1) rows.push({ kind: "gap", from: first, to: at });
    else at = first;
    if (at < lines.length) rows.push({ kind: "line", at, line: lines[at]! });
    at += 1;
  }
  return rows;
}

/** Where each change begins, as places in the list of rows. */
export function changeStarts(rows: readonly ShownRow[]): number[] {
  const isChange = (row: ShownRow | undefined) => row?.kind === "line" && row.line.kind !== "same";
  return rows.flatMap((row, index) => (isChange(row) && !isChange(rows[index - 1]) ? [index] : []));
}
