/** What one run of one check came to. */
export interface Outcome {
  readonly status: "passed" | "failed" | "skipped" | "unknown";
  readonly reason?: string;
  readonly log?: string;
  /** Something a reader should know about how it was run. */
  readonly note?: string;
}

export const passed = (): Outcome => ({ status: "passed" });
export const failed = (reason: string): Outcome => ({ status: "failed", reason });
export const skipped = (reason: string): Outcome => ({ status: "skipped", reason });
export const unknown = (reason: string): Outcome => ({ status: "unknown", reason });

/** A failure when a text lacks what it should hold; null when it holds everything. */
export function contains(text: string, wanted: string | readonly string[] | undefined, where: string): Outcome | null {
  for (const part of typeof wanted === "string" ? [wanted] : (wanted ?? [])) {
    if (!text.includes(part)) return failed(`${where} does not contain ${JSON.stringify(part)}`);
  }
  return null;
}
