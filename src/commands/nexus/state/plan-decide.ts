import { command } from "../../../cli/command.js";
import { count } from "../../../cli/text.js";
import { planDecide } from "../../../tools/plan-decide.js";
import { verb } from "./verb.js";

export default command(verb(planDecide), {
  positionals: [
    { name: "issue", field: "issue_id", about: "its number" },
    { name: "decision", about: "what was decided, and why" },
  ],
  flags: {
    asked: { value: "<role>", many: true, field: "how_agents", about: "a role that was asked" },
  },
  examples: [['nexus plan decide 2 "gzip: it is everywhere"', "records a decision"]],
  text: ({ issue, allComplete, remaining = [], message }) => [
    `decided: ${issue}`,
    allComplete ? (message ?? "") : `${count(remaining.length, "issue")} to decide`,
  ],
});
