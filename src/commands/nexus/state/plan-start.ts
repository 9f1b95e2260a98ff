import { command } from "../../../cli/command.js";
import { count } from "../../../cli/text.js";
import { planStart } from "../../../tools/plan-start.js";
import { verb } from "./verb.js";

export default command(verb(planStart), {
  positionals: [{ name: "topic", about: "what is to be planned" }],
  flags: {
    issue: { value: "<title>", many: true, field: "issues", about: "something to decide" },
    research: { value: "<text>", field: "research_summary", about: "what was found out before planning" },
  },
  input: (values) => ({ issues: [], ...values }),
  about: ["An open plan is filed in the history first. Its tasks stay."],
  examples: [['nexus plan start "faster start" --issue "which loader?" --research "a profile"', "opens a plan"]],
  text: ({ plan_id, topic, issueCount, previousArchived }) => [
    `plan ${plan_id}: ${topic}, ${count(issueCount, "issue")}${previousArchived ? "; the open one was filed" : ""}`,
  ],
});
