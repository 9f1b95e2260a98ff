import { z } from "zod";
import { Task } from "../schema/tasks.js";
import { listTasks, neverReady } from "../state/index.js";
import { tool } from "./tool.js";

export const taskList = tool({
  name: "task_list",
  summary: "the tasks, their progress, and which are ready",
  guidance: "Start only what is in summary.ready.",
  input: z.object({}),
  output: z.object({
    exists: z.boolean().optional(),
    goal: z.string().optional(),
    tasks: z.array(Task).optional(),
    summary: z
      .object({
        total: z.int(),
        completed: z.int(),
        pending: z.int(),
        blocked: z.int().describe("in progress"),
        ready: z.array(z.int()).describe("pending, all deps completed"),
      })
      .optional(),
  }),
  readOnly: true,
  run: (project) => listTasks(project),
  notes: ({ tasks = [] }) => neverReady(tasks).map(({ id, why }) => `task ${id} can never be ready: it ${why}`),
});
