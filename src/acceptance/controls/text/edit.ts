/** Replaces what stands from start to end. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Edits that overlap an earlier one are left out: both would be wrong then. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, text: piece } of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < at) continue;
    pieces.push(text.slice(at, start), piece);
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces.join("");
}
