import { type Command, command } from "../../../cli/command.js";
import { taskUpdate } from "../../../tools/task-update.js";
import { verb } from "./verb.js";

const STATUS = { start: "in_progress", done: "completed", reopen: "pending" } as const;

/** `nexus task start|done|reopen`: three names for one tool. */
export function taskSet(action: keyof typeof STATUS): { readonly default: Command } {
  return {
    default: command(verb(taskUpdate), {
      positionals: [{ name: "id", about: "the task's number" }],
      input: (values) => ({ ...values, status: STATUS[action] }),
      examples: [[`nexus task ${action} 3`, `task 3 becomes ${STATUS[action].replace("_", " ")}`]],
      text: ({ task }) => [`task ${task.id}: ${task.status.replace("_", " ")}`],
    }),
  };
}
