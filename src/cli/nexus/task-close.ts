import { taskClose } from "../../operations/nexus/task-close.js";
import { verb } from "../../operations/nexus/verb.js";
import { command } from "../command.js";
import { count } from "../text.js";

export default command(verb(taskClose), {
  about: [
    "Files the plan and the tasks in .nexus/history.json, then clears them. Unfinished tasks are filed as they are.",
  ],
  examples: [["nexus task close", "ends the cycle"]],
  text: ({ archived, branch, total_cycles, memoryHint }) => [
    `filed ${count(archived.tasks, "task")} and ${count(archived.decisions, "decision")} on ${branch}: cycle ${total_cycles}`,
    ...(memoryHint.hadLoopDetection ? ["a file was edited again and again: worth a lesson in .nexus/memory"] : []),
  ],
});
