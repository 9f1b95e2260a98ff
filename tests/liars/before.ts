// Whether a trick succeeded against the code of before: recorded by
// npx tsx tests/liars/run.ts --bin <the build of before> --tricks --soon --record
import { readFileSync, writeFileSync } from "node:fs";
import type { Verdict } from "./referee.js";
import { TRICKS } from "./tricks.js";

interface Before {
  /** Ended as completed, or passed `accept` or `verify`. */
  readonly completed: readonly string[];
  readonly held: readonly string[];
}

const FILE = new URL("./before.json", import.meta.url);
const RECORD = JSON.parse(readFileSync(FILE, "utf8")) as Before;

export function earlier(id: string): "completed" | "held" | null {
  if (RECORD.completed.includes(id)) return "completed";
  return RECORD.held.includes(id) ? "held" : null;
}

export function record(tried: readonly { readonly id: string; readonly yes: Verdict["yes"] }[]): void {
  const now = new Map(tried.map(({ id, yes }) => [id, wasBelieved(id, yes) ? "completed" : "held"]));
  const of = (answer: string) => TRICKS.map(({ id }) => id).filter((id) => (now.get(id) ?? earlier(id)) === answer);
  writeFileSync(FILE, `${JSON.stringify({ completed: of("completed"), held: of("held") }, null, 2)}\n`);
}

/** The code of before called a truthful "partial" verified; a run was fooled only when it said completed itself. */
const wasBelieved = (id: string, yes: Verdict["yes"]) =>
  yes.length > 0 &&
  (TRICKS.find((trick) => trick.id === id)?.by !== "run" || yes.some((answer) => answer !== "verify"));
