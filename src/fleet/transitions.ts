// How a job's record may change, as pure functions. Each is written with compare-and-set, so what is decided here holds:
// of two that change a job at once, one is decided again on what the other left.
import { NutError } from "../errors.js";
import { FLEET_VERSION, type Job } from "../schema/fleet.js";

/** Workers a job may cost before it is set aside. */
export const MOST_DEATHS = 3;
/** Tries a record remembers. */
const REMEMBERED = 10;

export interface Claiming {
  readonly worker: string;
  readonly at: string;
  readonly turn: number;
  /** Its place in the queue. */
  readonly seq: number;
  /** Whether the message the job was given with before is gone from the queue. */
  readonly isHolderGone: boolean;
}

export type Claim =
  /** It is this worker's now. */
  | { readonly kind: "taken"; readonly job: Job }
  /** It cost too many workers. */
  | { readonly kind: "set-aside"; readonly job: Job }
  /** The message says nothing any more and can go. */
  | { readonly kind: "over"; readonly why: string }
  /** Not now, or not by this worker. */
  | { readonly kind: "later"; readonly why: string };

/** What comes of a message from the queue. The server gives one out again only when its holder was silent for a lease. */
export function claim(job: Job | null, asked: Claiming): Claim {
  const { worker, at, turn, seq } = asked;
  // A replica that lags behind may not know of it yet.
  if (job === null) return { kind: "later", why: "there is no record of it" };
  if (job.version > FLEET_VERSION) return { kind: "later", why: "it was submitted by a newer nexus" };
  if (job.turn < turn) return { kind: "later", why: "its record is older than the message" };
  if (job.turn > turn) return { kind: "over", why: "it was queued again since" };
  if (job.state !== "queued" && job.state !== "running") return { kind: "over", why: `it is ${job.state}` };
  const { lease } = job;
  // Written before, and the answer was lost.
  if (lease?.worker === worker && lease.seq === seq && lease.at === at) return { kind: "taken", job };
  if (job.state === "running" && lease !== undefined && lease.seq !== seq && !asked.isHolderGone) {
    return { kind: "over", why: `${lease.worker} has it by another message` };
  }
  const died = job.state === "running" && lease !== undefined;
  const before = died ? tally(job, lease.worker, "it went silent", at) : job;
  if (before.deaths >= MOST_DEATHS) return { kind: "set-aside", job: setAside(before, costReason(before), at) };
  const taken: Job = {
    ...before,
    state: "running",
    fence: job.fence + 1,
    lease: { worker, seq, at },
    updated_at: at,
  };
  return { kind: "taken", job: taken };
}

const costReason = ({ deaths, tried }: Job): string =>
  `it cost ${deaths} workers: ${tried
    .slice(-deaths)
    .map(({ worker, why }) => `${worker} (${why})`)
    .join(", ")}`;

function tally(job: Job, worker: string, why: string, at: string): Job {
  return { ...job, deaths: job.deaths + 1, tried: [...job.tried, { worker, why, at }].slice(-REMEMBERED) };
}

function setAside(job: Job, reason: string, at: string): Job {
  const { lease: _, ...rest } = job;
  return { ...rest, state: "dead", reason, updated_at: at };
}

/** Throws FLEET_LEASE_LOST when the job is no longer this holder's: what it made is not the job's result. */
export function assertHeld(job: Job | null, fence: number): Job {
  if (job !== null && job.state === "running" && job.fence === fence) return job;
  const now =
    job === null
      ? "the record is gone"
      : job.state === "running"
        ? `${job.lease?.worker} has it`
        : `it is ${job.state}`;
  throw new NutError("FLEET_LEASE_LOST", `the job is no longer this worker's: ${now}`, {
    hint: job === null ? "nexus fleet jobs" : `nexus fleet show ${job.id}`,
    data: { fence, state: job?.state ?? null, now: job?.fence ?? null },
  });
}

/** The one record that makes a stored delivery the job's result. Saying it again changes nothing. */
export function deliver(job: Job | null, fence: number, result: NonNullable<Job["result"]>): Job {
  if (job?.state === "delivered" && job.fence === fence && job.result?.sha256 === result.sha256) return job;
  const { lease: _, checkpoint: __, ...held } = assertHeld(job, fence);
  return { ...held, state: "delivered", result, updated_at: result.at };
}

export function checkpointed(job: Job | null, fence: number, checkpoint: NonNullable<Job["checkpoint"]>): Job {
  return { ...assertHeld(job, fence), checkpoint, updated_at: checkpoint.at };
}

/** Back into the queue by a worker that stops; it costs nothing. */
export function handBack(job: Job | null, fence: number, at: string): Job {
  const { lease: _, ...held } = assertHeld(job, fence);
  return { ...held, state: "queued", updated_at: at };
}

/** Back into the queue because this machine could not do it, or aside when too many could not. */
export function failed(job: Job | null, fence: number, problem: { readonly why: string; readonly at: string }): Job {
  const { lease, ...held } = assertHeld(job, fence);
  const counted = tally(held, lease?.worker ?? "", problem.why, problem.at);
  if (counted.deaths >= MOST_DEATHS) return setAside(counted, costReason(counted), problem.at);
  return { ...counted, state: "queued", updated_at: problem.at };
}

/** Aside at once: no other worker would do better. */
export function refused(job: Job | null, fence: number, problem: { readonly why: string; readonly at: string }): Job {
  const held = assertHeld(job, fence);
  const counted = { ...held, tried: tally(held, held.lease?.worker ?? "", problem.why, problem.at).tried };
  return setAside(counted, problem.why, problem.at);
}

/** Wins or loses as a whole. Cancelling what is cancelled is no mistake. */
export function cancel(job: Job, reason: string, at: string): Job {
  if (job.state === "cancelled") return job;
  if (job.state === "delivered") {
    throw new NutError("FLEET_JOB_STATE", `job ${job.id} has delivered: there is nothing to cancel`, {
      hint: `nexus fleet fetch ${job.id}`,
      data: { job: job.id, state: job.state },
    });
  }
  const { lease: _, ...rest } = job;
  return { ...rest, state: "cancelled", reason, updated_at: at };
}

/** Another turn for what was set aside or cancelled; it goes on from its last checkpoint. */
export function retry(job: Job, more: { readonly budget?: readonly string[]; readonly at: string }): Job {
  if (job.state !== "dead" && job.state !== "cancelled") {
    throw new NutError("FLEET_JOB_STATE", `job ${job.id} is ${job.state}: there is nothing to try again`, {
      hint: job.state === "delivered" ? `nexus fleet fetch ${job.id}` : `nexus fleet logs ${job.id}`,
      data: { job: job.id, state: job.state },
    });
  }
  const { reason: _, ...rest } = job;
  const budget = [...job.budget, ...(more.budget ?? [])];
  return { ...rest, state: "queued", turn: job.turn + 1, deaths: 0, budget, updated_at: more.at };
}
