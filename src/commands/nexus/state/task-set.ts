import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import type { TaskStatus } from "../../../schema/tasks.js";
import { taskUpdate } from "../../../tools/task-update.js";
import { useTool } from "./use-tool.js";

const input = z.object({ id: positional(taskUpdate.input.shape.id, { about: "the task's number" }) });

/** Three names for one tool. */
const set = (action: string, status: TaskStatus, summary: string) =>
  command({
    name: `task ${action}`,
    summary,
    input,
    output: taskUpdate.output,
    examples: [[`nexus task ${action} 3`, `task 3 becomes ${status.replace("_", " ")}`]],
    run: ({ id }, context) => useTool(taskUpdate, { id, status }, context),
    text: ({ task }) => [`task ${task.id}: ${task.status.replace("_", " ")}`],
  });

export default [
  set("start", "in_progress", "a task is being worked on"),
  set("done", "completed", "a task is done"),
  set("reopen", "pending", "a task is not done after all"),
];
