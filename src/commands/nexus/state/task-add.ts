import { command } from "../../../cli/command.js";
import { taskAdd } from "../../../tools/task-add.js";
import { verb } from "./verb.js";

export default command(verb(taskAdd), {
  positionals: [
    { name: "title", about: "what is to be done" },
    { name: "context", about: "what its owner must know" },
  ],
  flags: {
    after: { value: "<id>", many: true, field: "deps", about: "a task to finish first" },
    approach: { value: "<text>", about: "how to go about it" },
    acceptance: { value: "<text>", about: "what makes it done" },
    risk: { value: "<text>", about: "what may go wrong" },
    issue: { value: "<id>", field: "plan_issue", about: "the plan issue it comes from" },
    owner: { value: "<role>", about: "who does it" },
    goal: { value: "<text>", about: "the goal of the whole cycle" },
  },
  examples: [['nexus task add "write the reader" "see src/bundle" --owner engineer --after 1', "adds a task"]],
  text: ({ task }) => [`task ${task.id}: ${task.title}`],
});
