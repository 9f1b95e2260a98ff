import { z } from "zod";
import { ReusePolicy, Task } from "../schema/tasks.js";
import { addTask } from "../state/index.js";
import { SomeWords, tool, WholeNumber } from "./tool.js";

export const taskAdd = tool({
  name: "task_add",
  summary: "add a task to the open cycle",
  guidance:
    "One deliverable each. Write context so that its owner needs nothing else; ids in deps are those earlier calls returned.",
  input: z.object({
    title: SomeWords,
    context: SomeWords.describe("what its owner must know"),
    deps: z.array(WholeNumber).optional().describe("task ids to finish first"),
    approach: z.string().optional(),
    acceptance: z.string().optional().describe("what makes it done"),
    risk: z.string().optional(),
    plan_issue: WholeNumber.optional().describe("issue it comes from"),
    goal: z.string().optional().describe("replaces the cycle's goal"),
    decisions: z.array(z.string()).optional().describe("appended to the cycle's decisions"),
    owner: z.string().optional().describe("role"),
    owner_agent_id: z.string().optional(),
    owner_reuse_policy: ReusePolicy.optional(),
  }),
  output: z.object({ task: Task }),
  run: (project, input, { now }) => addTask(project, input, now()),
});
