// `.nexus/history.json`: every closed cycle, append only, in git.
import { z } from "zod";
import { Plan, SchemaVersion } from "./plan.js";
import { Timestamp } from "./shared.js";
import { Task } from "./tasks.js";

export const Cycle = z.looseObject({
  schema_version: SchemaVersion.describe("the version of the contract that archived this cycle"),
  completed_at: Timestamp,
  branch: z.string().min(1),
  plan: Plan.nullable(),
  tasks: z.array(Task),
});
export type Cycle = z.infer<typeof Cycle>;

export const History = z.looseObject({
  schema_version: SchemaVersion.optional(),
  cycles: z.array(Cycle),
});
export type History = z.infer<typeof History>;
