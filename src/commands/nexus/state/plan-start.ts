import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { count } from "../../../cli/text.js";
import { planStart } from "../../../tools/plan-start.js";
import { useTool } from "./use-tool.js";

const { topic, issues, research_summary } = planStart.input.shape;

export default command({
  name: "plan start",
  summary: "open a plan",
  input: z.object({
    topic: positional(topic, { about: "what is to be planned" }),
    issues: flag(issues.default([]), { name: "issue", value: "<title>", about: "something to decide" }),
    research_summary: flag(research_summary, {
      name: "research",
      value: "<text>",
      about: "what was found out before planning",
    }),
  }),
  output: planStart.output,
  about: ["An open plan is filed in the history first. Its tasks stay."],
  examples: [['nexus plan start "faster start" --issue "which loader?" --research "a profile"', "opens a plan"]],
  run: (input, context) => useTool(planStart, input, context),
  text: ({ plan_id, topic, issueCount, previousArchived }) => [
    `plan ${plan_id}: ${topic}, ${count(issueCount, "issue")}${previousArchived ? "; the open one was filed" : ""}`,
  ],
});
