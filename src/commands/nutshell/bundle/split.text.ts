import { command } from "../../../cli/command.js";
import { count, cyan } from "../../../cli/text.js";
import { DIR, FOLDER, folderInput } from "../flags.js";
import { split } from "./split.js";

export default command(split, {
  positionals: [FOLDER],
  flags: {
    ...DIR,
    count: { short: "n", value: "<n>", about: "so many parts, about the same size each" },
    "by-folder": { about: "one part for each folder under files/" },
    plan: { value: "<file>", about: "a JSON file that names the parts and their files" },
    output: { short: "o", value: "<name>", about: "parts are <name>-part-1 and so on (default: the folder's name)" },
  },
  about: [
    "What lies under files/ is shared out; context, tests and everything else goes to every part. Each part is a task of its own that remembers what it was given, so that nutshell merge can put the work together.",
    'A plan looks like this: {"parts": [{"title": "Reader", "files": ["files/csv/"]}, {"files": ["files/report/"]}]}',
  ],
  examples: [
    ["nutshell split my-task -n 3", "my-task-part-1, -2 and -3"],
    ["nutshell split my-task --plan parts.json", "as the plan says"],
  ],
  input: folderInput,
  text: ({ parts, shared }) => [
    `${count(parts.length, "part")}, ${count(shared, "file")} in each of them`,
    ...parts.map(({ path, files }) => `  ${path}  ${count(files, "file")}`),
    "",
    `Later: ${cyan(`nutshell merge ${parts.map(({ path }) => path).join(" ")} -o <dir>`)}`,
  ],
});
