// The records of jobs. A record changes by compare-and-set alone: what a function decides is written only on top of what
// it decided on.
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import { NutError } from "../errors.js";
import { FLEET_VERSION, Job } from "../schema/fleet.js";
import { patiently } from "./connect.js";
import { newestOf } from "./newest-of.js";

/** Somebody else's write in between is normal; this many in a row are not. */
const MOST_CONFLICTS = 50;

export interface Kept {
  readonly job: Job;
  readonly revision: number;
}

export class Jobs {
  readonly #kv: KV;

  constructor(kv: KV) {
    this.#kv = kv;
  }

  async get(id: string): Promise<Kept | null> {
    const entry = await this.#kv.get(id);
    if (entry === null || entry.operation !== "PUT") return null;
    return { job: readJob(entry.string()), revision: entry.revision };
  }

  /** The job a person means: its id or a unique beginning of it. Throws FLEET_JOB_NOT_FOUND. */
  async find(wanted: string): Promise<Job> {
    if (/^[0-9a-f]{24}$/.test(wanted)) {
      const kept = await this.get(wanted);
      if (kept !== null) return kept.job;
    }
    const fits = /^[0-9a-f]+$/.test(wanted) ? (await this.all()).filter(({ id }) => id.startsWith(wanted)) : [];
    if (fits.length === 1) return fits[0]!;
    const why = fits.length === 0 ? `there is no job "${wanted}"` : `"${wanted}" fits ${fits.length} jobs`;
    throw new NutError("FLEET_JOB_NOT_FOUND", why, { hint: "nexus fleet jobs", data: { wanted } });
  }

  /** Every job, oldest first. A record that cannot be read is left out: it is nobody's that this version knows. */
  async all(): Promise<Job[]> {
    const jobs = await newestOf(this.#kv, (entry) => Job.safeParse(parseJson(entry.string())).data ?? null);
    return jobs.sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
  }

  /** false when there is such a job: whoever made it first made it. */
  async create(job: Job): Promise<boolean> {
    try {
      await this.#kv.create(job.id, JSON.stringify(job));
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  /**
   * Decides and writes, again and again until nobody wrote in between. `decide` may be called more than once and after a
   * write whose answer was lost, so what it decides on its own result must be that result. Returns the record as it is then.
   */
  update(id: string, decide: (job: Job | null) => Job): Promise<Job> {
    let conflicts = 0;
    return patiently(async () => {
      for (;;) {
        try {
          return await this.#change(id, decide);
        } catch (error) {
          if (!isConflict(error) || conflicts >= MOST_CONFLICTS) throw error;
          conflicts += 1;
        }
      }
    });
  }

  async #change(id: string, decide: (job: Job | null) => Job): Promise<Job> {
    const kept = await this.get(id);
    const next = decide(kept?.job ?? null);
    if (kept === null) throw new Error("a job is made by create alone");
    if (next !== kept.job) await this.#kv.update(id, JSON.stringify(next), kept.revision);
    return next;
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof JetStreamApiError &&
  (error.code === JetStreamApiCodes.StreamWrongLastSequence ||
    error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown);

function readJob(text: string): Job {
  const value = parseJson(text) as { readonly version?: number; readonly id?: string } | null;
  const parsed = Job.safeParse(value);
  if (parsed.success) return parsed.data;
  const newer = (value?.version ?? 0) > FLEET_VERSION;
  throw new NutError(newer ? "FLEET_NEWER" : "FLEET_CORRUPT", `the record of job ${value?.id ?? "?"} cannot be read`, {
    hint: newer ? "npm install -g nutcracker@latest" : "submit the request again with --again",
    data: { job: value?.id ?? null },
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
