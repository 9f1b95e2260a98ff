import { command } from "../../../cli/command.js";
import { count } from "../../../cli/text.js";
import { taskCloseByHand } from "../../../tools/task-close.js";
import { useTool } from "./use-tool.js";

export default command({
  name: "task close",
  summary: "file the cycle in history",
  input: taskCloseByHand.input,
  output: taskCloseByHand.output,
  about: [
    "Files the plan and the tasks in .nexus/history.json, then clears them. Unfinished tasks are filed as they are. With nothing open, nothing is filed.",
  ],
  examples: [["nexus task close", "ends the cycle"]],
  async run(input, context) {
    const result = await useTool(taskCloseByHand, input, context);
    const { archived, deleted } = result;
    if (archived.plan || archived.tasks > 0 || deleted.includes("tasks.json")) return result;
    return { ...result, closed: false, cycle: "" };
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
