import { command } from "../../../cli/command.js";
import { context } from "../../../tools/context.js";
import { verb } from "./verb.js";

export default command(verb(context), {
  examples: [["nexus context", "what an agent is told about this session"]],
  text: ({ branch, activeMode, goal, tasksSummary, decisions }) => [
    `branch ${branch}${activeMode === null ? ", no tasks" : ""}`,
    ...(tasksSummary === undefined
      ? []
      : [`${goal || "no goal"}: ${tasksSummary.completed} of ${tasksSummary.total} done`]),
    ...decisions.map((decision) => `  ${decision}`),
  ],
});
