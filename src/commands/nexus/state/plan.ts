import { command } from "../../../cli/command.js";
import { bold, dim, green, yellow } from "../../../cli/text.js";
import { planStatus } from "../../../tools/plan-status.js";
import { useTool } from "./use-tool.js";

export default command({
  name: "plan",
  summary: "the open plan",
  input: planStatus.input,
  output: planStatus.output,
  examples: [["nexus plan", "the open plan, its issues and decisions"]],
  run: (input, context) => useTool(planStatus, input, context),
  text: ({ active, plan_id, topic, issues = [], research_summary, summary }) =>
    active
      ? [
          `${bold(`plan ${plan_id}`)}: ${topic}  ${dim(`${summary!.decided} of ${summary!.total} decided`)}`,
          ...(research_summary ? [dim(`research: ${research_summary}`)] : []),
          ...issues.flatMap(({ id, title, status, decision }) => [
            `  ${status === "decided" ? green("✓") : yellow("?")} ${id}  ${title}`,
            ...(decision === undefined ? [] : [`       ${decision}`]),
          ]),
        ]
      : ["no plan is open: nexus plan start --help"],
});
