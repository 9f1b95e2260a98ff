import { command } from "../../../cli/command.js";
import { context as contextTool } from "../../../tools/context.js";
import { useTool } from "./use-tool.js";

export default command({
  name: "context",
  summary: "what an agent is told",
  input: contextTool.input,
  output: contextTool.output,
  examples: [["nexus context", "what an agent is told about this session"]],
  run: (input, context) => useTool(contextTool, input, context),
  text: ({ branch, activeMode, goal, tasksSummary, decisions }) => [
    `branch ${branch}${activeMode === null ? ", no tasks" : ""}`,
    ...(tasksSummary === undefined
      ? []
      : [`${goal || "no goal"}: ${tasksSummary.completed} of ${tasksSummary.total} done`]),
    ...decisions.map((decision) => `  ${decision}`),
  ],
});
