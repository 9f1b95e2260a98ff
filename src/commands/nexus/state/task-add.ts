import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { taskAdd } from "../../../tools/task-add.js";
import { useTool } from "./use-tool.js";

const field = taskAdd.input.shape;

export default command({
  name: "task add",
  summary: "add a task",
  input: z.object({
    title: positional(field.title, { about: "what is to be done" }),
    context: positional(field.context, { about: "what its owner must know" }),
    deps: flag(field.deps, { name: "after", value: "<id>", about: "a task to finish first" }),
    approach: flag(field.approach, { value: "<text>", about: "how to go about it" }),
    acceptance: flag(field.acceptance, { value: "<text>", about: "what makes it done" }),
    risk: flag(field.risk, { value: "<text>", about: "what may go wrong" }),
    plan_issue: flag(field.plan_issue, { name: "issue", value: "<id>", about: "the plan issue it comes from" }),
    owner: flag(field.owner, { value: "<role>", about: "who does it" }),
    goal: flag(field.goal, { value: "<text>", about: "the goal of the whole cycle" }),
  }),
  output: taskAdd.output,
  examples: [['nexus task add "write the reader" "see src/bundle" --owner engineer --after 1', "adds a task"]],
  run: (input, context) => useTool(taskAdd, input, context),
  text: ({ task }) => [`task ${task.id}: ${task.title}`],
});
