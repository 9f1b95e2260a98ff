import { parseDuration } from "./duration.mjs";

/** Milliseconds between two runs of a job. */
export function delayOf(job) {
  return typeof job.every === "number" ? job.every : parseDuration(job.every);
}

/** When a job is due next, as milliseconds since the epoch. */
export function nextRun(job, lastRun) {
  return lastRun + delayOf(job);
}

/** The job that is due first; null when there is none. */
export function first(jobs, lastRuns) {
  let best = null;
  for (const job of jobs) {
    const at = nextRun(job, lastRuns.get(job.name) ?? 0);
    if (best === null || at < best.at) best = { job, at };
  }
  return best;
}
