// What agents did with what was lent to them, as the run's own record has it. A run's folder may be a stranger's: whatever is
// no such line is not shown.
import { withoutEscapes } from "../log-lines.js";
import { logTail } from "./log-tail.js";
import type { CredentialUseRow } from "./model.js";

/** The latest ones; all of them are in the file. */
const MOST_USES = 20;
const TAIL_BYTES = 32 * 1024;

/** Newest first. */
export function credentialUses(path: string): CredentialUseRow[] {
  return logTail(path, TAIL_BYTES).split("\n").flatMap(useOf).slice(-MOST_USES).reverse();
}

function useOf(line: string): CredentialUseRow[] {
  try {
    const { name, at, by, what, allowed, why, sent, received } = JSON.parse(line) as Record<string, unknown>;
    if (typeof name !== "string" || typeof what !== "string" || typeof allowed !== "boolean") return [];
    const bytes = Math.max(0, Number(sent) || 0) + Math.max(0, Number(received) || 0);
    return [{ name: text(name), at: text(at), by: text(by), what: text(what), allowed, why: text(why), bytes }];
  } catch {
    return []; // The first line of a tail is cut.
  }
}

const text = (value: unknown): string => (typeof value === "string" ? withoutEscapes(value).slice(0, 400) : "");
