import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { count } from "../../../cli/text.js";
import { planDecide } from "../../../tools/plan-decide.js";
import { useTool } from "./use-tool.js";

const { issue_id, decision, how_agents } = planDecide.input.shape;

export default command({
  name: "plan decide",
  summary: "record a decision",
  input: z.object({
    issue_id: positional(issue_id, { name: "issue", about: "its number" }),
    decision: positional(decision, { about: "what was decided, and why" }),
    how_agents: flag(how_agents, { name: "asked", value: "<role>", about: "a role that was asked" }),
  }),
  output: planDecide.output,
  examples: [['nexus plan decide 2 "gzip: it is everywhere"', "records a decision"]],
  run: (input, context) => useTool(planDecide, input, context),
  text: ({ issue, allComplete, remaining = [], message }) => [
    `decided: ${issue}`,
    allComplete ? (message ?? "") : `${count(remaining.length, "issue")} to decide`,
  ],
});
