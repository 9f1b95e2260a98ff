// `.nexus/state/plan.json`: the open plan. Objects are loose: a reader keeps fields a newer version added.
import { z } from "zod";
import { Timestamp } from "./shared.js";

/** `0.7`: which version of the contract wrote something. */
export const SchemaVersion = z.string().regex(/^\d+\.\d+$/, "must look like 0.7");

export const Id = z.int().min(1);

export const PlanIssue = z.looseObject({
  id: Id,
  title: z.string().min(1),
  status: z.enum(["pending", "decided"]),
  decision: z.string().optional().describe("present when decided"),
  how_agents: z.array(z.string()).optional().describe("roles that were asked how"),
  how_summary: z.record(z.string(), z.string()).optional().describe("what each role answered"),
  how_agent_ids: z.record(z.string(), z.string()).optional().describe("the session of each role, for a later resume"),
});
export type PlanIssue = z.infer<typeof PlanIssue>;

export const Plan = z.looseObject({
  schema_version: SchemaVersion.optional(),
  id: Id,
  topic: z.string().min(1),
  issues: z.array(PlanIssue),
  research_summary: z.string().optional(),
  created_at: Timestamp,
});
export type Plan = z.infer<typeof Plan>;
