// Whether a trick succeeded against the code of before: recorded by
// npx tsx tests/liars/run.ts --bin <the build of before> --tricks --soon --json
import { readFileSync } from "node:fs";

interface Before {
  /** Ended as completed, or passed `accept` or `verify`. */
  readonly completed: readonly string[];
  readonly held: readonly string[];
}

const RECORD = JSON.parse(readFileSync(new URL("./before.json", import.meta.url), "utf8")) as Before;

export function earlier(id: string): "completed" | "held" | null {
  if (RECORD.completed.includes(id)) return "completed";
  return RECORD.held.includes(id) ? "held" : null;
}
