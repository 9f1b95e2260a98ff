import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, count, dim } from "../../../cli/text.js";
import { historySearch } from "../../../tools/history-search.js";
import { useTool } from "./use-tool.js";

const { query, last_n } = historySearch.input.shape;

export default command({
  name: "history",
  summary: "search closed cycles",
  input: z.object({
    query: positional(query, { about: "any words in a cycle" }),
    last_n: flag(last_n, {
      name: "last",
      short: "n",
      value: "<n>",
      about: "at most this many cycles (default: 10)",
    }),
  }),
  output: historySearch.output,
  examples: [
    ["nexus history", "the last cycles"],
    ['nexus history "zstd" -n 3', "the last three that mention it"],
  ],
  run: (input, context) => useTool(historySearch, input, context),
  text: ({ total, showing, cycles }) => [
    ...cycles.flatMap(({ completed_at, branch, topic, decisions = [], task_count }) => [
      `${bold(topic ?? "no plan")}  ${dim([completed_at, branch, count(task_count ?? 0, "task")].filter(Boolean).join(", "))}`,
      ...decisions.map(({ title, decision }) => `  ${title}: ${decision}`),
    ]),
    `${showing} of ${count(total, "cycle")}`,
  ],
});
