import { z } from "zod";
import { Task, TaskStatus } from "../schema/tasks.js";
import { updateTask } from "../state/index.js";
import { tool, WholeNumber } from "./tool.js";

export const taskUpdate = tool({
  name: "task_update",
  summary: "set a task's status; completed → pending reopens it",
  guidance: "Complete a task only after its acceptance was checked.",
  input: z.object({ id: WholeNumber, status: TaskStatus }),
  output: z.object({ task: Task }),
  idempotent: true,
  run: (project, input, { now }) => updateTask(project, input, now()),
});
