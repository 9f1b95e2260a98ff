import { z } from "zod";
import { DEFAULT_LAST_N, searchHistory } from "../state/index.js";
import { tool, WholeNumber } from "./tool.js";

export const historySearch = tool({
  name: "history_search",
  summary: "search closed cycles; the newest matches, oldest first",
  guidance: "Look here before planning: a past decision may already answer the question.",
  input: z.object({
    query: z.string().optional().describe("any letter case, anywhere in a cycle"),
    last_n: WholeNumber.refine((n) => n >= 1, "must be 1 or more")
      .optional()
      .describe(`how many cycles, ${DEFAULT_LAST_N} if not given`),
  }),
  output: z.object({
    total: z.int(),
    showing: z.int(),
    cycles: z.array(
      z.object({
        completed_at: z.string(),
        branch: z.string(),
        topic: z.string().optional(),
        decisions: z.array(z.object({ title: z.string(), decision: z.string() })).optional(),
        task_count: z.int().optional(),
      }),
    ),
  }),
  readOnly: true,
  run: (project, input) => searchHistory(project, input),
  notes({ total, showing }) {
    return showing < total ? [`${showing} of ${total} matching cycles; pass last_n for more, or a narrower query`] : [];
  },
});
