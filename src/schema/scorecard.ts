// What one try of one request by one program came to, as `nexus race` and `nexus bench` keep it, and what all of them add up
// to.
import { z } from "zod";
import { Sha256 } from "./shared.js";

export const TRY_VERSION = 1;

const count = z.int().nonnegative();

export const TRY_OUTCOMES = ["completed", "partial", "blocked", "failed", "paused", "refused"] as const;

/** How it went. */
export const TryResult = z.object({
  outcome: z.enum(TRY_OUTCOMES),
  final: z.boolean().describe("false: going on may still change it"),
  why: z.string().describe("the delivery's own summary, or what stopped it"),
  criteria: z.object({ total: count, passed: count, failed: count, proven: count }),
  checklist: z.object({ total: count, passed: count }),
  review: z.enum(["pass", "fail"]).nullable().describe("what the last review said; null when there was none"),
  tokens: z.number().nonnegative(),
  cost_usd: z.number().nonnegative().describe("0 when its program tells none"),
  ms: z.number().nonnegative(),
  sessions: count,
  files: count.describe("files changed"),
  lines: count.describe("lines written or changed"),
  delivery: z.string().optional().describe("the file it left"),
  hash: Sha256.optional(),
});
export type TryResult = z.output<typeof TryResult>;

export const Try = z
  .object({
    version: z.literal(TRY_VERSION),
    request: z.string(),
    digest: Sha256.describe("of the request it was made on"),
    contender: z.string(),
    program: z.string().describe("driver, model or line, as it was named"),
    trial: z.int().positive(),
    run: z.string(),
    result: TryResult.optional().describe("absent while it is at work"),
  })
  .describe("one try of one request, a file in tries/");
export type Try = z.output<typeof Try>;

export const ScoreRow = z.object({
  contender: z.string(),
  stand_in: z.boolean().describe("noop and oracle are no agents: they show what a score means"),
  tries: count,
  solved: count,
  rate: z.number().nullable().describe("solved of tries; null without tries"),
  low: z.number().nullable().describe("95 % interval of the rate (Wilson)"),
  high: z.number().nullable(),
  tokens: z.number(),
  cost_usd: z.number(),
  cost_per_solved_usd: z.number().nullable().describe("null when nothing was solved or no cost is told"),
  tokens_per_solved: z.number().nullable(),
  median_ms: z.number().nullable(),
  unfinished: count.describe("tries that were refused, or can still go on"),
});
export type ScoreRow = z.output<typeof ScoreRow>;
