import { command } from "../../../cli/command.js";
import { cyan } from "../../../cli/text.js";
import { DIR, FOLDER, folderInput } from "../flags.js";
import { init } from "./init.js";

export default command(init, {
  positionals: [{ ...FOLDER, about: "the folder to start in; made when it is not there" }],
  flags: {
    ...DIR,
    yes: { short: "y", about: "do not ask" },
    from: { value: "<template>", about: "start from bug-fix, feature, data-analysis, review, a .nut file or a folder" },
    "from-issue": { value: "<file>", about: "start from an issue: Markdown, or a tracker's JSON" },
  },
  about: [
    "Writes nutshell.json and context/requirements.md with places to fill in; nothing that exists is touched. On a terminal it asks for title, summary, skills and what done means.",
  ],
  examples: [
    ["nutshell init --dir my-task", "a new task in my-task/"],
    ["nutshell init my-task --from bug-fix", "with the questions a bug fix has to answer"],
    ["nutshell init my-task --from api-template.nut", "from a template of your own"],
    ["nutshell init my-task --from-issue issue.md", "title, summary and checklist from an issue"],
  ],
  input: folderInput,
  text({ path, created, label }) {
    const where = label === undefined ? "" : ` ${label}`;
    return [
      `Started a task in ${path}`,
      ...created.map((name) => `  ${name}`),
      "",
      `Next: ${cyan(`nutshell check${where}`)} tells what is missing`,
    ];
  },
});
