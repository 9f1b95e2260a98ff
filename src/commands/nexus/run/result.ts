// What `nexus run` and `nexus resume` answer.
import { z } from "zod";
import { type RunFolder, type RunOutcome, trimDelivered } from "../../../run/index.js";
import { Delivery } from "../../../schema/delivery.js";

export const RunResult = z.object({
  type: z.literal("result"),
  run: z.string(),
  status: z.enum(["delivered", "paused", "planned"]),
  recorded: z.literal(true).optional().describe("the run was finished before; nothing was run now"),
  delivery: z
    .object({
      path: z.string(),
      hash: z.string(),
      request: z.string().describe("the request it answers, as it was named"),
      base: z.string().optional().describe("the tree the work began with, when it is a repository"),
      identity: z.array(z.string()).readonly().optional().describe("keys that were named, which open the request"),
      branch: z.string().optional().describe("the branch it was brought to"),
      result: Delivery,
    })
    .optional(),
  paused: z.object({ reason: z.string(), message: z.string(), hint: z.string() }).optional(),
  plan: z
    .object({
      source: z.string(),
      driver: z.string(),
      jobs: z.int(),
      constraints: z.array(z.object({ text: z.string(), enforced: z.boolean() })),
      budget: z.object({
        time_ms: z.number().optional(),
        tokens: z.number().optional(),
        cost_usd: z.number().optional(),
        agent_ms: z.number(),
        stall_ms: z.number(),
        loop: z.number(),
      }),
      tasks: z.array(
        z.looseObject({
          id: z.int(),
          title: z.string(),
          owner: z.string(),
          deps: z.array(z.int()),
          limits: z.array(z.string()),
          command: z.string(),
        }),
      ),
    })
    .optional(),
});
export type RunResult = z.infer<typeof RunResult>;

/** The trees of a run that has delivered go: what changed in them is in the delivery. */
export async function toResult(folder: RunFolder, outcome: RunOutcome): Promise<RunResult> {
  if (outcome.status === "delivered") await trimDelivered(folder);
  return { type: "result", ...outcome };
}
