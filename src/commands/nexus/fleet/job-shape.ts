// Jobs as people and programs read them.
import { z } from "zod";
import { cyan, dim, green, red, yellow } from "../../../cli/text.js";
import { type Job, JobState, Priority } from "../../../schema/fleet.js";

export const JobShape = z.object({
  job: z.string(),
  title: z.string(),
  state: JobState,
  priority: Priority,
  labels: z.array(z.string()),
  driver: z.string().nullable(),
  worker: z.string().nullable().describe("who works on it, or delivered it"),
  tries: z.int().describe("how often it was given to a worker"),
  deaths: z.int().describe("workers that died or failed over it"),
  status: z.string().nullable().describe("what the delivery says of itself"),
  tokens: z.number().nullable(),
  cost_usd: z.number().nullable(),
  reason: z.string().nullable().describe("why it is dead or cancelled"),
  created_at: z.string(),
  updated_at: z.string(),
});
export type JobShape = z.infer<typeof JobShape>;

export function shapeOf(job: Job): JobShape {
  const { id, title, state, priority, labels, driver, lease, result, fence, deaths, reason } = job;
  return {
    job: id,
    title,
    state,
    priority,
    labels: [...labels],
    driver: driver ?? null,
    worker: result?.worker ?? lease?.worker ?? null,
    tries: fence,
    deaths,
    status: result?.status ?? null,
    tokens: result?.tokens ?? null,
    cost_usd: result?.cost_usd ?? null,
    reason: reason ?? null,
    created_at: job.created_at,
    updated_at: job.updated_at,
  };
}

const PAINT = { queued: dim, running: cyan, delivered: green, cancelled: yellow, dead: red } as const;

export const stateWords = ({ state, status }: Pick<JobShape, "state" | "status">): string =>
  PAINT[state](status === null ? state : `${state} (${status})`);

/** As much of an id as a person types. */
export const shortId = (id: string): string => id.slice(0, 10);

export function jobRow(job: JobShape): string[] {
  const note = job.reason ?? job.worker ?? (job.labels.length === 0 ? "" : `needs ${job.labels.join(", ")}`);
  return [shortId(job.job), stateWords(job), job.priority, job.title, dim(note)];
}
