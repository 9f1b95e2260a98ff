// What is known of tasks, one JSON line each, only ever added to.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { CorpusKind } from "./find-tasks.js";

export const MODES = ["noop", "oracle", "plain"] as const;
export type Mode = (typeof MODES)[number];

/** completed: everything passed and something is proven; "proves nothing": it passes on the untouched request too. */
export type Verdict =
  | "completed"
  | "proves nothing"
  | "failed"
  | "incomplete"
  | "passes"
  | "fails"
  | "passes untouched"
  | "unfit";

export interface Took {
  readonly ms: number;
  /** Processor time of everything that was started and waited for; null where that is not known. */
  readonly cpu_ms: number | null;
}

export interface CorpusOutcome extends Took {
  readonly verdict: Verdict;
  /** What kept it from being completed, in the tool's own words. */
  readonly reason: string | null;
  /** Why a check that passed is not proven. */
  readonly weakness: string | null;
  /** How often the checks were run. */
  readonly runs: number;
}

export interface CorpusRow extends CorpusOutcome {
  readonly kind: CorpusKind;
  readonly task: string;
  readonly language: string;
  /** Of the task as it was fetched. */
  readonly digest: string;
  readonly mode: Mode;
  readonly run: string;
}

export class Rows {
  private readonly rows: CorpusRow[] = [];
  private readonly file: string;

  constructor(file: string) {
    this.file = file;
    if (!existsSync(file)) return;
    for (const line of readFileSync(file, "utf8").split("\n")) {
      // A line that was cut off is a task that is run again.
      try {
        if (line !== "") this.rows.push(JSON.parse(line) as CorpusRow);
      } catch {}
    }
  }

  has(task: string, mode: Mode, run: string, digest: string): boolean {
    return this.rows.some((row) => row.task === task && row.mode === mode && row.run === run && row.digest === digest);
  }

  add(row: CorpusRow): void {
    this.rows.push(row);
    mkdirSync(dirname(this.file), { recursive: true });
    appendFileSync(this.file, `${JSON.stringify(row)}\n`);
  }

  /** The latest of each task, mode and run. */
  all(): CorpusRow[] {
    return [...new Map(this.rows.map((row) => [`${row.kind} ${row.task} ${row.mode} ${row.run}`, row])).values()];
  }
}
