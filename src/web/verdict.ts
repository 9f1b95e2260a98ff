// What became of a delivery or a run, as every screen says it: one word, the counts the command line gives, what fails by
// name, and the one next thing to do. Nothing else decides a colour.

export type Tone = "plain" | "good" | "warn" | "bad" | "info" | "accent";

export interface Failing {
  readonly id: string;
  readonly description: string;
  readonly reason: string;
  /** The last line of its log that tells something. */
  readonly line: string;
}

export interface VerdictView {
  /** The outcome: completed, partial, blocked, failed; running, paused, cancelled, interrupted, damaged. */
  readonly word: string;
  readonly tone: Tone;
  /** null when nothing was run and nothing is claimed. */
  readonly counts: Counts | null;
  readonly checklist: { readonly total: number; readonly passed: number; readonly failed: number };
  readonly failing: readonly Failing[];
  readonly detail: string;
  readonly next: { readonly words: string; readonly command: string } | null;
}

/** Criteria. `person` are for a person to judge and were not; they are not skipped. */
export interface Counts {
  readonly hold: number;
  readonly fail: number;
  readonly notRun: number;
  readonly person: number;
  /** Sealed for whoever verifies, and not run. */
  readonly hidden: number;
}

interface Judged {
  readonly status: string;
}

export interface Judging {
  readonly word: string;
  readonly criteria: readonly (Judged & {
    readonly id: string;
    readonly description?: string;
    readonly reason?: string;
  })[];
  readonly checklist: readonly Judged[];
  /** What a delivery of another tool counts without naming criteria. */
  readonly claimed?: Counts | null;
  readonly hidden?: number;
  readonly detail?: string;
  readonly next?: VerdictView["next"];
  /** The log of a criterion, as far as it is at hand. */
  readonly log?: (id: string) => string;
  readonly tellingLine?: (log: string) => string;
}

const TONES: Readonly<Record<string, Tone>> = {
  ...{ completed: "good", partial: "warn", blocked: "bad", failed: "bad" },
  ...{ running: "accent", paused: "warn", cancelled: "plain", interrupted: "bad", damaged: "bad" },
};

export function verdictOf(judging: Judging): VerdictView {
  const { word, criteria, checklist, claimed = null, hidden = 0, detail = "", next = null } = judging;
  const count = (rows: readonly Judged[], status: string) => rows.filter((row) => row.status === status).length;
  const counts =
    criteria.length === 0
      ? claimed
      : {
          hold: count(criteria, "passed"),
          fail: count(criteria, "failed"),
          notRun: count(criteria, "skipped"),
          person: count(criteria, "unknown"),
          hidden,
        };
  const failed = count(checklist, "failed");
  const says = TONES[word] ?? "plain";
  return {
    word,
    // Whatever it calls itself, something that failed is never shown as good.
    tone: says === "good" && ((counts?.fail ?? 0) > 0 || failed > 0) ? "bad" : says,
    counts,
    checklist: { total: checklist.length, passed: count(checklist, "passed"), failed },
    failing: criteria
      .filter(({ status }) => status === "failed")
      .map(({ id, description = "", reason = "" }) => ({
        id,
        description,
        reason,
        line: judging.tellingLine?.(judging.log?.(id) ?? "") ?? "",
      })),
    detail,
    next,
  };
}

/** As a sentence: "2 hold, 1 fails, 1 waits for a person". */
export function countWords({ hold, fail, notRun, person, hidden }: Counts): string {
  const rows: readonly (readonly [number, string])[] = [
    [fail, fail === 1 ? "fails" : "fail"],
    [notRun, "could not be run"],
    [person, person === 1 ? "waits for a person" : "wait for a person"],
    [hidden, "hidden, not run"],
  ];
  const rest = rows.filter(([n]) => n > 0).map(([n, words]) => `${n} ${words}`);
  return [`${hold} of ${hold + fail + notRun + person} hold`, ...rest].join(", ");
}
