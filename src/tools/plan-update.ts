import { z } from "zod";
import { PlanIssue } from "../schema/plan.js";
import { updatePlan } from "../state/index.js";
import { tool, WholeNumber, Words } from "./tool.js";

export const planUpdate = tool({
  name: "plan_update",
  summary: "add, remove, edit or reopen an issue of the open plan",
  guidance: "Reopening drops the decision.",
  input: z.object({
    // Any text is let in: the contract answers an unknown action with a result of its own.
    action: Words.meta({ enum: ["add", "remove", "edit", "reopen"] }),
    issue_id: WholeNumber.optional().describe("for remove, edit, reopen"),
    title: Words.optional().describe("for add, edit"),
  }),
  output: z.object({
    added: z.boolean().optional(),
    removed: z.boolean().optional(),
    edited: z.boolean().optional(),
    reopened: z.boolean().optional(),
    issue: PlanIssue,
  }),
  destructive: true,
  run: (project, input, { now }) => updatePlan(project, input, now()),
});
