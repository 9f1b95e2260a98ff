// Outcomes in one word each.
import type { Outcome } from "./model.js";

export const passed = (): Outcome => ({ status: "passed" });
export const failed = (reason: string): Outcome => ({ status: "failed", reason, failure: "other" });
export const skipped = (reason: string): Outcome => ({ status: "skipped", reason });
export const unknown = (reason: string): Outcome => ({ status: "unknown", reason });
/** It ran to its end, and what it found is not what was expected. */
export const refuted = (reason: string): Outcome => ({ status: "failed", reason, failure: "assertion" });

/** A failure when a text lacks what it should hold; null when it holds everything. */
export function contains(text: string, wanted: string | readonly string[] | undefined, where: string): Outcome | null {
  for (const part of typeof wanted === "string" ? [wanted] : (wanted ?? [])) {
    if (!text.includes(part)) return refuted(`${where} does not contain ${JSON.stringify(part)}`);
  }
  return null;
}
