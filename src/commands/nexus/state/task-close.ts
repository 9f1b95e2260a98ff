import { command } from "../../../cli/command.js";
import { count } from "../../../cli/text.js";
import { taskClose } from "../../../tools/task-close.js";
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
  run: (input, context) => useTool(taskClose, input, context),
  text: ({ archived, branch, total_cycles, memoryHint }) => [
    `filed ${count(archived.tasks, "task")} and ${count(archived.decisions, "decision")} on ${branch}: cycle ${total_cycles}`,
    ...(memoryHint.hadLoopDetection ? ["a file was edited again and again: worth a lesson in .nexus/memory"] : []),
  ],
});
