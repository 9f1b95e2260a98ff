// What a fleet's streams, buckets and subjects are called. A server before 2.10 filters a consumer by one subject and knows
// no priorities, so both are in the subject: `nut.work.<priority>.<labels>`.
import { Label, PRIORITIES, type Priority } from "../schema/fleet.js";

export const WORK = "NUT_WORK";
export const EVENTS = "NUT_EVENTS";
export const JOBS = "nut_jobs";
export const WORKERS = "nut_workers";
export const SETTINGS = "nut_settings";
export const BUNDLES = "nut_bundles";
export const RUNS = "nut_runs";
/** Heard by every worker at once: there is something to do, or to stop doing. Nothing is lost when it is not heard. */
export const WAKE = "nut.wake";

export const WORK_SUBJECTS = "nut.work.>";
export const EVENT_SUBJECTS = "nut.events.*";

export const eventSubject = (job: string): string => `nut.events.${job}`;

const ANY = "any";

/** Labels in one order, each once. */
export const sortedLabels = (labels: readonly string[]): string[] => [...new Set(labels)].sort();

export const workSubject = (priority: Priority, labels: readonly string[]): string =>
  `nut.work.${priority}.${labels.length === 0 ? ANY : sortedLabels(labels).join("+")}`;

export interface WorkSubject {
  readonly subject: string;
  readonly priority: Priority;
  readonly labels: readonly string[];
}

/** null for what is none of ours. */
export function readSubject(subject: string): WorkSubject | null {
  const [nut, work, priority, words, more] = subject.split(".");
  if (nut !== "nut" || work !== "work" || more !== undefined || words === undefined) return null;
  if (!PRIORITIES.includes(priority as Priority)) return null;
  const labels = words === ANY ? [] : words.split("+");
  if (!labels.every((label) => Label.safeParse(label).success)) return null;
  return { subject, priority: priority as Priority, labels };
}

/** The name of the consumer that hands out what is queued under a subject. */
export const consumerName = (subject: string): string => subject.replace(/^nut\.work\./, "").replaceAll(".", "-");

/** What a worker with these labels may take, the most urgent first, and the most demanding first among equals. */
export function servable(subjects: readonly string[], own: ReadonlySet<string>): WorkSubject[] {
  return subjects
    .flatMap((subject) => readSubject(subject) ?? [])
    .filter(({ labels }) => labels.every((label) => own.has(label)))
    .sort(
      (a, b) =>
        PRIORITIES.indexOf(a.priority) - PRIORITIES.indexOf(b.priority) ||
        b.labels.length - a.labels.length ||
        (a.subject < b.subject ? -1 : 1),
    );
}

/** A wish for a driver is a label like any other. */
export const driverLabel = (driver: string): string => `driver=${driver}`;
