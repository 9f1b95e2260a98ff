import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { planUpdate } from "../../../tools/plan-update.js";
import { useTool } from "./use-tool.js";

const { issue_id: issueId, title } = planUpdate.input.shape;
const ISSUE = { issue_id: positional(issueId.unwrap(), { name: "issue", about: "its number" }) };
const TITLE = { title: positional(title.unwrap(), { about: "what has to be decided" }) };

/** Four names for one tool. */
const change = (action: string, summary: string, input: z.ZodRawShape, example: string) =>
  command({
    name: `plan ${action}`,
    summary,
    input: z.object(input),
    output: planUpdate.output,
    examples: [[`nexus plan ${action} ${example}`, `${action} an issue of the open plan`]],
    run: (typed, context) => useTool(planUpdate, { ...typed, action }, context),
    text: ({ issue }) => [`${action}: ${issue.id}  ${issue.title}`],
  });

export default [
  change("add", "add an issue to the plan", TITLE, '"which format?"'),
  change("edit", "reword an issue", { ...ISSUE, ...TITLE }, '2 "which format, and why?"'),
  change("remove", "drop an issue", ISSUE, "2"),
  change("reopen", "take a decision back", ISSUE, "2"),
];
