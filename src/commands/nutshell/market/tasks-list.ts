import { command } from "../../../cli/command.js";
import { bold, dim, table } from "../../../cli/text.js";
import { TASK_STATUSES } from "../../../schema/market.js";
import { CLAWNET } from "./clawnet-flags.js";
import { taskList } from "./tasks.js";

export default command(taskList, {
  flags: {
    status: { value: "<status>", choices: TASK_STATUSES, about: "only tasks in this state" },
    limit: { value: "<n>", about: "at most this many (default: 50)" },
    ...CLAWNET,
  },
  examples: [["nutshell tasks --status open", "what could be done now"]],
  text: ({ tasks }) =>
    tasks.length === 0
      ? [dim("no tasks")]
      : table([
          [bold("id"), bold("status"), bold("reward"), bold("title")],
          ...tasks.map((task) => [task.id, task.status, String(task.reward), task.title]),
        ]),
});
