import { z } from "zod";
import { startPlan } from "../state/index.js";
import { SomeWords, tool, Words } from "./tool.js";

export const planStart = tool({
  name: "plan_start",
  summary: "open a plan with its issues; an open plan is filed in history first",
  guidance: "Research first, then give the issues as questions that need a decision.",
  input: z.object({
    topic: SomeWords,
    issues: z.array(SomeWords, { error: "must be a list of titles" }).describe("what has to be decided, in order"),
    research_summary: Words.describe("what was found out before planning"),
  }),
  output: z.object({
    created: z.boolean(),
    plan_id: z.int(),
    topic: z.string(),
    issueCount: z.int(),
    previousArchived: z.boolean(),
  }),
  run: (project, input, { now }) => startPlan(project, input, now()),
});
