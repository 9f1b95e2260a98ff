import { command } from "../../../cli/command.js";
import { count } from "../../../cli/text.js";
import { listTasks, planStatus, searchHistory } from "../../../state/index.js";
import { taskClose } from "../../../tools/task-close.js";
import { projectOf } from "../../../tools/tool.js";
import { useTool } from "./use-tool.js";

export default command({
  name: "task close",
  summary: "file the cycle in history",
  input: taskClose.input,
  output: taskClose.output,
  about: [
    "Files the plan and the tasks in .nexus/history.json, then clears them. Unfinished tasks are filed as they are.",
  ],
  examples: [["nexus task close", "ends the cycle"]],
  async run(input, context) {
    const project = projectOf(context);
    if (planStatus(project).active || !("exists" in listTasks(project))) return useTool(taskClose, input, context);
    context.progress({ type: "note", message: `project: ${project.root}` });
    return nothingClosed(project.branch(), searchHistory(project, {}).total);
  },
  text: ({ closed, archived, branch, total_cycles, memoryHint }) =>
    closed
      ? [
          `filed ${count(archived.tasks, "task")} and ${count(archived.decisions, "decision")} on ${branch}: cycle ${total_cycles}`,
          ...(memoryHint.hadLoopDetection
            ? ["a file was edited again and again: worth a lesson in .nexus/memory"]
            : []),
        ]
      : ["nothing is open, so nothing was filed"],
});

const nothingClosed = (branch: string, cycles: number) => ({
  closed: false,
  cycle: "",
  branch,
  archived: { plan: false, decisions: 0, tasks: 0 },
  deleted: [],
  total_cycles: cycles,
  memoryHint: { taskCount: 0, decisionCount: 0, hadLoopDetection: false, cycleTopics: [] },
});
