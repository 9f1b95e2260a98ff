import { command } from "../../../cli/command.js";
import { bold, count, dim } from "../../../cli/text.js";
import { historySearch } from "../../../tools/history-search.js";
import { verb } from "./verb.js";

export default command(verb(historySearch), {
  positionals: [{ name: "query", about: "any words in a cycle", optional: true }],
  flags: { last: { short: "n", value: "<n>", field: "last_n", about: "at most this many cycles (default: 10)" } },
  examples: [
    ["nexus history", "the last cycles"],
    ['nexus history "zstd" -n 3', "the last three that mention it"],
  ],
  text: ({ total, showing, cycles }) => [
    ...cycles.flatMap(({ completed_at, branch, topic, decisions = [], task_count }) => [
      `${bold(topic ?? "no plan")}  ${dim(`${completed_at}, ${branch}, ${count(task_count ?? 0, "task")}`)}`,
      ...decisions.map(({ title, decision }) => `  ${title}: ${decision}`),
    ]),
    `${showing} of ${count(total, "cycle")}`,
  ],
});
