// What a fleet keeps on its server: one record per job, one per worker, what the fleet was set up with, and what happens.
import { z } from "zod";
import { type DeepReadonly, Timestamp } from "./shared.js";

/** The form in which records of a fleet are written. A worker leaves a job alone that is newer than what it knows. */
export const FLEET_VERSION = 1;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hex");

/** A token of a subject: nothing that a server reads as more than a name. */
export const Label = z.string().regex(/^[a-z0-9][a-z0-9_=-]{0,47}$/, "must be small letters, digits, - _ =");

export const PRIORITIES = ["high", "normal", "low"] as const;
export const Priority = z.enum(PRIORITIES);
export type Priority = z.infer<typeof Priority>;

export const JOB_STATES = ["queued", "running", "delivered", "cancelled", "dead"] as const;
export const JobState = z.enum(JOB_STATES);
export type JobState = z.infer<typeof JobState>;

const Lease = z.object({
  worker: z.string(),
  seq: z.int().describe("the message of the queue it was given with"),
  at: Timestamp,
});

const Checkpoint = z.object({
  run: z
    .string()
    .regex(/^[\w-]+$/)
    .describe("the run that goes on"),
  list: Sha256.describe("the stored list of its files"),
  records: z.int().describe("lines of its journal"),
  at: Timestamp,
});

const Result = z.object({
  sha256: Sha256.describe("the stored delivery"),
  size: z.int(),
  status: z.string().describe("what the delivery says of itself"),
  sealed: z.boolean().optional(),
  worker: z.string(),
  fence: z.int(),
  at: Timestamp,
  tokens: z.number(),
  cost_usd: z.number(),
});

export const Job = z
  .looseObject({
    version: z.int().min(1),
    id: z.string().regex(/^[0-9a-f]{24}$/),
    created_at: Timestamp,
    updated_at: Timestamp,
    title: z.string(),
    request: z.object({
      sha256: Sha256.describe("of the file as it is stored"),
      size: z.int(),
      at: z.string().optional().describe("where workers find it, when it is not in the fleet's own store"),
      sealed: z.boolean().optional().describe("for the fleet's key: the server holds ciphertext only"),
      reply: z.string().optional().describe("whom the delivery of a sealed request is sealed for"),
    }),
    labels: z.array(Label).describe("what a worker must have"),
    priority: Priority,
    driver: z.string().optional(),
    budget: z.array(z.string()).describe("in the words of --budget"),
    state: JobState,
    turn: z.int().min(1).describe("how often it was put into the queue"),
    fence: z.int().min(0).describe("how often it was given to a worker: who holds an older number writes nothing"),
    deaths: z.int().min(0).describe("workers that died or failed over it"),
    tried: z.array(z.object({ worker: z.string(), at: Timestamp, why: z.string() })),
    lease: Lease.optional(),
    checkpoint: Checkpoint.optional(),
    result: Result.optional(),
    reason: z.string().optional().describe("why it is dead or cancelled"),
  })
  .describe("one job of a fleet");
export type Job = DeepReadonly<z.infer<typeof Job>>;

export const Worker = z
  .looseObject({
    version: z.int().min(1),
    id: z.string(),
    host: z.string(),
    pid: z.int(),
    nutcracker: z.string(),
    drivers: z.array(z.string()),
    labels: z.array(z.string()),
    slots: z.int(),
    jobs: z.array(z.string()),
    draining: z.boolean(),
    since: Timestamp,
    seen: Timestamp,
    done: z.int(),
    failed: z.int(),
  })
  .describe("one worker of a fleet, as it last said of itself");
export type Worker = DeepReadonly<z.infer<typeof Worker>>;

export const FleetSettings = z
  .looseObject({
    version: z.int().min(1),
    lease_ms: z.int().describe("a worker that is silent for this long loses its job"),
    keep_ms: z.int().describe("what is not written to for this long goes"),
    limits: z
      .object({ jobs: z.number().optional(), tokens: z.number().optional(), cost_usd: z.number().optional() })
      .describe("what may be begun and spent in a day"),
  })
  .describe("what a fleet was set up with");
export type FleetSettings = DeepReadonly<z.infer<typeof FleetSettings>>;

/** What a day has seen. */
export const Spent = z.object({ day: z.string(), jobs: z.number(), tokens: z.number(), cost_usd: z.number() });
export type Spent = DeepReadonly<z.infer<typeof Spent>>;

export const FleetEvent = z
  .looseObject({
    at: Timestamp,
    job: z.string(),
    type: z.string(),
    worker: z.string().optional(),
    fence: z.int().optional(),
    message: z.string().optional(),
  })
  .describe("something that happened to a job");
export type FleetEvent = DeepReadonly<z.infer<typeof FleetEvent>>;

/** What travels in the queue. The record says the rest. */
export const Ticket = z.object({ job: z.string(), turn: z.int() });
export type Ticket = DeepReadonly<z.infer<typeof Ticket>>;

/** The files of a run as they were at a checkpoint. */
export const CheckpointList = z.object({
  files: z.array(
    z.object({
      path: z.string().regex(/^(?:journal\.jsonl|objects\/[\w:-]+|agents\/[\w-]+\/report\.md)$/),
      sha256: Sha256,
      size: z.int(),
    }),
  ),
});
export type CheckpointList = DeepReadonly<z.infer<typeof CheckpointList>>;
