import { command } from "../../../cli/command.js";
import { DIR, folderInput } from "../flags.js";
import { set } from "./set.js";

export default command(set, {
  positionals: [
    { name: "field", about: "dotted path, such as task.title" },
    {
      name: "value",
      field: "values",
      many: true,
      optional: true,
      about: "one value; a list is a,b,c or several words",
    },
  ],
  flags: {
    ...DIR,
    append: { short: "a", about: "add to a list; commas are kept" },
    unset: { about: "remove the field" },
  },
  about: [
    "The schema decides what the words mean: numbers, true and false, choices, lists. Below extensions and tags.custom numbers and booleans are recognised, everything else is text. Fields it does not know stay as they are.",
    "Setting bundle_type to delivery gives a request a new id that points back to the old one.",
  ],
  examples: [
    ['nutshell set task.title "Build a REST API"', "in the current folder"],
    ["nutshell set tags.skills_required go,rest --dir my-task", "a list"],
    ['nutshell set acceptance.checklist "errors, if any, are logged" --append', "one more item, commas and all"],
    ["nutshell set extensions.clawnet.reward.amount 500", "a field of your own"],
    ["nutshell set bundle_type delivery", "a request becomes the delivery that answers it"],
  ],
  input: folderInput,
  text: ({ changed }) =>
    changed.map(({ field, value }) => `${field} = ${value === null ? "(removed)" : JSON.stringify(value)}`),
});
