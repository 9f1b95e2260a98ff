// What happened in a run, one line each, on disk before the next thing happens. The journal is the truth about a run:
// everything else in its folder can be rebuilt from it, and a killed run goes on from its last line.
import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { NutError } from "../../errors.js";
import type { JournalEvent } from "./run-state.js";

/**
 * Steps that come out the same when they are done again from the records before them; they reach the disk with the next
 * record that does not. The journal stays a prefix of what happened, so nothing can be there out of order.
 */
const REPEATABLE: ReadonlySet<JournalEvent["type"]> = new Set<JournalEvent["type"]>([
  "created",
  "opened",
  "agent_started",
  "agent_session",
  "credential_used",
  "issue",
  "merging",
  "merged",
  "task_completed",
  "task_failed",
  "checkpoint",
]);

export class Journal {
  readonly #file: number;
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, "a+", 0o600);
    const { whole } = readWhole(path);
    // A line cut by a crash was never acknowledged to anyone; what follows must start on a line of its own.
    ftruncateSync(this.#file, whole);
  }

  /** A killed process loses nothing; a power cut nothing that somebody paid or answered for. */
  append(event: JournalEvent): void {
    const line = Buffer.from(`${JSON.stringify(event)}\n`, "utf8");
    for (let at = 0; at < line.length; ) at += writeSync(this.#file, line, at);
    if (!REPEATABLE.has(event.type)) fdatasyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Every event so far; a last line without its end is not one. */
export function readJournal(path: string): JournalEvent[] {
  const { text } = readWhole(path);
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line, index) => {
      try {
        return JSON.parse(line) as JournalEvent;
      } catch {
        throw new NutError("RUN_DAMAGED", `${path}: line ${index + 1} cannot be read`, { data: { path } });
      }
    });
}

function readWhole(path: string): { text: string; whole: number } {
  const bytes = readFileSync(path);
  const whole = bytes.lastIndexOf(0x0a) + 1;
  return { text: bytes.subarray(0, whole).toString("utf8"), whole };
}
