// The moments of a run that are worth a mark on its page, from its journal.
import type { JournalRecord } from "../../schema/journal.js";
import { withoutEscapes } from "../log-lines.js";
import type { RunMark } from "./model.js";

/** Of a run that goes on for days, the latest. */
const MOST_MARKS = 400;

export class MarkList {
  #marks: RunMark[] = [];
  /** Files of the change that is on its way in. */
  #merging = 0;
  /** When whoever is at work began: at the start, or when it went on after a pause. */
  since = "";

  hear(record: JournalRecord | null): void {
    if (record === null) this.#marks = [];
    else {
      if (record.type === "created" || record.type === "continued") this.since = record.at;
      if (record.type === "merging") this.#merging = record.changes.length;
      const mark = markOf(record, this.#merging);
      if (mark !== null && !isEcho(mark, this.#marks.at(-1))) this.#marks.push(mark);
      if (this.#marks.length > 2 * MOST_MARKS) this.#marks = this.#marks.slice(-MOST_MARKS);
    }
  }

  get marks(): readonly RunMark[] {
    return this.#marks.slice(-MOST_MARKS);
  }
}

/** What a session was refused for fails its task with the same words. */
function isEcho(mark: RunMark, last: RunMark | undefined): boolean {
  return mark.kind === "refusal" && last?.kind === "refusal" && last.task === mark.task && last.text === mark.text;
}

export function markOf(record: JournalRecord, merging = 0): RunMark | null {
  const mark = (kind: RunMark["kind"], text: string, task: number | null = null, agent = ""): RunMark => ({
    at: record.at,
    kind,
    text: shorten(withoutEscapes(text)),
    task,
    agent,
  });
  switch (record.type) {
    case "planned":
      return mark("plan", `${count(record.plan.tasks.length, "task")} (plan: ${record.plan.source})`);
    case "agent_ended":
      return record.problems.length === 0
        ? null
        : mark("refusal", record.problems.join("; "), record.task, record.agent);
    case "merged":
      // A review brings nothing in.
      return merging === 0
        ? null
        : mark(
            "merge",
            `${count(merging, "changed path")} ${merging === 1 ? "is" : "are"} in`,
            record.task,
            record.agent,
          );
    case "task_failed":
      return mark("refusal", record.problems.join("; "), record.task);
    case "diagnosed":
      return mark("diagnosis", record.text, record.task);
    case "asked":
      return mark("question", record.question, record.task);
    case "answered":
      return mark(
        "answer",
        record.answer === "retry" ? `try again: ${record.text ?? ""}` : "deliver without it",
        record.task,
      );
    case "accepted": {
      const { passed, failed, skipped, unknown } = record.report.counts;
      const words = `${passed} passed, ${failed} failed, ${skipped} skipped, ${unknown} for a person`;
      return mark("acceptance", `${record.report.verdict}: ${words}`);
    }
    case "issue":
      return mark("note", record.message, record.task ?? null);
    case "waiting":
      return mark("note", record.message);
    case "switched":
      return mark("note", `${record.to} took over from ${record.from}: ${record.reason}`);
    case "paused":
      return mark(record.reason === "cancelled" ? "cancel" : "pause", record.message);
    case "delivered":
      return mark("end", `delivered: ${record.status}`);
    default:
      return null;
  }
}

const count = (many: number, noun: string) => `${many} ${noun}${many === 1 ? "" : "s"}`;
const shorten = (text: string) => (text.length > 600 ? `${text.slice(0, 600)}…` : text);
