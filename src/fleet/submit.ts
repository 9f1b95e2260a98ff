// A request handed in: noted here, stored there, recorded once, queued. Done again after any kind of end, it goes on where
// it was; the same request twice is one job.
import { readFileSync } from "node:fs";
import { NutError } from "../errors.js";
import type { Context } from "../operation.js";
import { FLEET_VERSION, type Job } from "../schema/fleet.js";
import { parsePeer, SEALED_MAX_BYTES, sealBundle } from "../vault/index.js";
import type { Fleet } from "./fleet.js";
import { jobId } from "./job-id.js";
import { type LedgerEntry, noteSubmitted } from "./ledger.js";
import { driverLabel, sortedLabels } from "./names.js";
import { type Stored, sumOf } from "./stored-files.js";

export interface Submission extends Omit<LedgerEntry, "server" | "job" | "sha256"> {
  /** The bytes themselves, on this disk. */
  readonly file: string;
}

export interface Submitted {
  readonly job: Job;
  /** false: there was such a job before. */
  readonly fresh: boolean;
  /** Why the ledger does not know of it. */
  readonly unnoted: string | null;
}

export async function submit(fleet: Fleet, submission: Submission, context: Context): Promise<Submitted> {
  const { file, path, title, priority, driver, budget, again } = submission;
  const own = await sumOf(file);
  const labels = labelsOf(submission);
  const id = jobId({ request: own.sha256, labels, driver, budget, again });
  const { file: _, ...said } = submission;
  const unnoted = noteSubmitted({ ...said, server: fleet.server, job: id, sha256: own.sha256 }, context);
  const before = await fleet.jobs.get(id);
  if (before !== null) return { job: await queueAgain(fleet, before.job), fresh: false, unnoted };
  const request = await store(fleet, submission, own);
  const at = context.now().toISOString();
  const job: Job = {
    version: FLEET_VERSION,
    id,
    created_at: at,
    updated_at: at,
    // A title tells what it is about.
    title: submission.seal_for === undefined ? title : "sealed",
    request: { ...request, ...(submission.in_place === true ? { at: path } : {}), ...sealedWords(submission) },
    labels,
    priority,
    ...(driver === undefined ? {} : { driver }),
    budget,
    state: "queued",
    turn: 1,
    fence: 0,
    deaths: 0,
    tried: [],
  };
  if (!(await fleet.jobs.create(job))) {
    const first = (await fleet.jobs.get(id))!.job;
    return { job: await queueAgain(fleet, first), fresh: false, unnoted };
  }
  await fleet.queue.put(job);
  const message = `submitted: ${job.title}`;
  fleet.events.tell({ at, job: id, type: "submitted", message });
  return { job, fresh: true, unnoted };
}

/** A wish for a driver is a label like any other. */
function labelsOf({ labels, driver }: Pick<Submission, "labels" | "driver">): string[] {
  return sortedLabels([...labels, ...(driver === undefined ? [] : [driverLabel(driver)])]);
}

/** Whoever died between the record and the queue left a job that nobody would come for. */
async function queueAgain(fleet: Fleet, job: Job): Promise<Job> {
  if (job.state === "queued") await fleet.queue.put(job);
  return job;
}

function sealedWords({ seal_for: sealFor, reply_to: reply }: Submission) {
  return sealFor === undefined ? {} : { sealed: true, ...(reply === undefined ? {} : { reply }) };
}

async function store(fleet: Fleet, submission: Submission, own: Stored): Promise<Stored> {
  const { file, in_place: inPlace, seal_for: sealFor } = submission;
  if (sealFor !== undefined) {
    if (own.size > SEALED_MAX_BYTES) {
      throw new NutError("BUNDLE_LIMIT", "a sealed request is held in memory, so it may not exceed 256 MB", {
        data: { size: own.size },
      });
    }
    return fleet.bundles.putBytes(sealBundle(readFileSync(file), parsePeer(sealFor)));
  }
  if (inPlace !== true) await fleet.bundles.putFile(file, own);
  return own;
}
