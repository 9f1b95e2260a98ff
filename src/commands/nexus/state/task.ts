import { command } from "../../../cli/command.js";
import { bold, cyan, dim, green, table } from "../../../cli/text.js";
import { taskList } from "../../../tools/task-list.js";
import { useTool } from "./use-tool.js";

export default command({
  name: "task",
  summary: "every task",
  input: taskList.input,
  output: taskList.output,
  examples: [["nexus task", "every task, and which are ready"]],
  run: (input, context) => useTool(taskList, input, context),
  text({ exists, goal, tasks = [], summary }) {
    if (exists === false) return ["no tasks: nexus task add --help"];
    const ready = new Set(summary!.ready);
    const mark = (id: number, status: string) =>
      status === "completed" ? green("✓") : status === "in_progress" ? cyan("▸") : ready.has(id) ? "○" : dim("·");
    return [
      `${bold(goal || "tasks")}  ${dim(`${summary!.completed} of ${summary!.total} done, ${ready.size} ready`)}`,
      ...table(
        tasks.map(({ id, title, status, owner, deps }) => [
          `  ${mark(id, status)} ${id}`,
          title,
          dim([owner, deps?.length > 0 ? `after ${deps.join(", ")}` : undefined].filter(Boolean).join(", ")),
        ]),
      ),
    ];
  },
});
