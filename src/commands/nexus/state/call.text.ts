import { command } from "../../../cli/command.js";
import { call, isRefusal } from "./call.js";

export default command(call, {
  positionals: [
    { name: "tool", about: "plan_start, task_add, … (nx_ in front is fine)" },
    { name: "arguments", about: "its arguments as JSON, or - for standard input", optional: true },
  ],
  about: ["Prints the tool's result as JSON. Answers 1 when the tool refuses, as in: no plan is open."],
  examples: [
    ["nexus call task_list", "what there is to do"],
    ['nexus call task_update \'{"id":3,"status":"completed"}\'', "marks task 3 done"],
    ["nexus call plan_start - < plan.json", "arguments from a file"],
  ],
  text: (result) => [JSON.stringify(result)],
  exit: (result) => (isRefusal(result) ? 1 : 0),
});
