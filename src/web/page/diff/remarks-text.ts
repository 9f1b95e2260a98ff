// Remarks as the next try is told them.

export interface Remark {
  /** `src/a.ts:12`, or the id of a criterion. */
  readonly about: string;
  /** The line as it stood. */
  readonly quote: string;
  readonly text: string;
}

/** What the next try is told. */
export function remarksText(remarks: readonly Remark[]): string {
  return remarks
    .map(({ about, quote, text }) => `${about}${quote === "" ? "" : ` (${quote.trim().slice(0, 200)})`}: ${text}`)
    .join("\n");
}
