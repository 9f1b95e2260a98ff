import { z } from "zod";
import { PlanIssue } from "../schema/plan.js";
import { planStatus as readPlan } from "../state/index.js";
import { tool } from "./tool.js";

export const planStatus = tool({
  name: "plan_status",
  summary: "the open plan, its issues and decisions",
  input: z.object({}),
  output: z.object({
    active: z.boolean(),
    plan_id: z.int().optional(),
    topic: z.string().optional(),
    issues: z.array(PlanIssue).optional(),
    research_summary: z.string().optional(),
    summary: z.object({ total: z.int(), pending: z.int(), decided: z.int() }).optional(),
  }),
  readOnly: true,
  run: (project) => readPlan(project),
});
