import { z } from "zod";
import { closeCycle } from "../state/index.js";
import { tool } from "./tool.js";

/** The contract's fixtures want a history that begins with an empty cycle; a person who closes nothing wants none. */
const closing = (emptyFirst: boolean) =>
  tool({
    name: "task_close",
    summary: "file the plan and tasks in history and clear them",
    guidance:
      "Call it when everything is verified, or to abandon a cycle; memoryHint tells whether a lesson is worth keeping.",
    input: z.object({}),
    output: z.object({
      closed: z.boolean(),
      cycle: z.string(),
      branch: z.string(),
      archived: z.object({ plan: z.boolean(), decisions: z.int(), tasks: z.int() }),
      deleted: z.array(z.string()),
      total_cycles: z.int(),
      memoryHint: z.object({
        taskCount: z.int(),
        decisionCount: z.int(),
        hadLoopDetection: z.boolean(),
        cycleTopics: z.array(z.string()),
      }),
    }),
    destructive: true,
    run: (project, _, { now }) => closeCycle(project, now(), { emptyFirst }),
  });

/** As agents have it, over MCP. */
export const taskClose = closing(true);
/** As the command line has it: with nothing open it files nothing. */
export const taskCloseByHand = closing(false);
