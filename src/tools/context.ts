import { z } from "zod";
import { sessionContext } from "../state/index.js";
import { tool } from "./tool.js";

export const context = tool({
  name: "context",
  summary: "where this session stands: branch, goal, progress, decisions",
  input: z.object({}),
  output: z.object({
    branch: z.string(),
    activeMode: z.enum(["team"]).nullable(),
    goal: z.string().optional(),
    tasksSummary: z.object({ total: z.int(), completed: z.int(), pending: z.int() }).optional(),
    decisions: z.array(z.string()),
  }),
  readOnly: true,
  run: (project) => sessionContext(project),
});
