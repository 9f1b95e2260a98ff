import { z } from "zod";
import { decidePlan } from "../state/index.js";
import { SomeWords, tool, WholeNumber } from "./tool.js";

export const planDecide = tool({
  name: "plan_decide",
  summary: "record the decision on an issue",
  guidance: "Give the decision and its reason in full: it is what the tasks are made from.",
  input: z.object({
    issue_id: WholeNumber,
    decision: SomeWords,
    how_agents: z.array(z.string()).optional().describe("roles asked"),
    how_summary: z.record(z.string(), z.string()).optional().describe("role → its position"),
    how_agent_ids: z.record(z.string(), z.string()).optional().describe("role → session id"),
  }),
  output: z.object({
    decided: z.boolean(),
    issue: z.string(),
    allComplete: z.boolean(),
    message: z.string().optional(),
    remaining: z.array(z.object({ id: z.int(), title: z.string(), status: z.string() })).optional(),
  }),
  idempotent: true,
  run: (project, input) => decidePlan(project, input),
});
