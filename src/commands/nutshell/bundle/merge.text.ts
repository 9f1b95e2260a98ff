import { command } from "../../../cli/command.js";
import { count, red } from "../../../cli/text.js";
import { merge } from "./merge.js";

export default command(merge, {
  positionals: [{ name: "part", field: "parts", many: true, about: "folders or .nut files" }],
  flags: {
    output: { short: "o", value: "<dir>", about: "the folder to make" },
    partial: { about: "merge although some parts of the split are not given" },
  },
  about: [
    "A change wins over an untouched copy. When two parts changed the same file differently, both versions are kept (the second as <file>.part-2) and reported. Deliveries are merged into one that claims no more than its weakest part.",
    "Exit status: 0 merged, 1 merged with conflicts, 2 could not.",
  ],
  examples: [["nutshell merge my-task-part-1 my-task-part-2 -o my-task-merged", "back together"]],
  text: ({ path, files, conflicts }) => [
    `Merged ${count(files, "file")} into ${path}`,
    ...(conflicts.length === 0 ? [] : [`${count(conflicts.length, "conflict")} to look at:`]),
    ...conflicts.map((each) => `  ${red("✗")} ${each.path}: ${each.message}${keptWords(each.kept)}`),
  ],
  exit: ({ conflicts }) => (conflicts.length === 0 ? 0 : 1),
});

const keptWords = (kept: readonly string[]) => (kept.length < 2 ? "" : `; kept as ${kept.join(" and ")}`);
