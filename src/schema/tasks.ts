// `.nexus/state/tasks.json`: what is to be done in this cycle.
import { z } from "zod";
import { Id, SchemaVersion } from "./plan.js";
import { Timestamp } from "./shared.js";

export const TaskStatus = z.enum(["pending", "in_progress", "completed"]);
export type TaskStatus = z.infer<typeof TaskStatus>;

export const ReusePolicy = z.enum(["fresh", "resume_if_same_artifact", "resume"]);
export type ReusePolicy = z.infer<typeof ReusePolicy>;

export const Task = z.looseObject({
  id: Id,
  title: z.string().min(1),
  context: z.string().min(1),
  approach: z.string().optional(),
  acceptance: z.string().optional().describe("what makes it done"),
  risk: z.string().optional(),
  status: TaskStatus,
  deps: z.array(z.int()).describe("ids that must be completed first"),
  plan_issue: z.int().optional().describe("the plan issue it comes from"),
  owner: z.string().optional().describe("the role that does it"),
  owner_agent_id: z.string().optional().describe("opaque: compared and shown, never parsed"),
  owner_reuse_policy: ReusePolicy.optional(),
  created_at: Timestamp.optional(),
});
export type Task = z.infer<typeof Task>;

export const TasksFile = z.looseObject({
  schema_version: SchemaVersion.optional(),
  goal: z.string(),
  decisions: z.array(z.string()),
  tasks: z.array(Task),
});
export type TasksFile = z.infer<typeof TasksFile>;
