import { type Command, command, type Positional } from "../../../cli/command.js";
import { planUpdate } from "../../../tools/plan-update.js";
import { verb } from "./verb.js";

const ISSUE: Positional = { name: "issue", field: "issue_id", about: "its number" };
const TITLE: Positional = { name: "title", about: "what has to be decided" };

const POSITIONALS = { add: [TITLE], edit: [ISSUE, TITLE], remove: [ISSUE], reopen: [ISSUE] } as const;

/** `nexus plan add|edit|remove|reopen`: four names for one tool. */
export function planChange(action: keyof typeof POSITIONALS): { readonly default: Command } {
  const example = { add: '"which format?"', edit: '2 "which format, and why?"', remove: "2", reopen: "2" }[action];
  return {
    default: command(verb(planUpdate), {
      positionals: POSITIONALS[action],
      input: (values) => ({ ...values, action }),
      examples: [[`nexus plan ${action} ${example}`, `${action} an issue of the open plan`]],
      text: ({ issue }) => [`${action}: ${issue.id}  ${issue.title}`],
    }),
  };
}
