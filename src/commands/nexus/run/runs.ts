import { z } from "zod";
import { operation } from "../../../operation.js";
import { listRuns, runsFolder } from "../../../run/index.js";
import { openProject } from "../../../state/index.js";

export const runList = operation({
  name: "run_list",
  summary: "the runs of this project, and which can go on",
  input: z.object({}),
  output: z.object({
    folder: z.string(),
    runs: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        driver: z.string(),
        status: z.enum(["running", "paused", "interrupted", "delivered", "damaged"]),
        detail: z.string(),
        created_at: z.string(),
        tasks: z.object({ total: z.int(), completed: z.int() }),
        delivery: z.string().optional(),
      }),
    ),
  }),
  async run(_, { cwd, env }) {
    const folder = runsFolder(openProject(cwd, { env }).root);
    return { folder, runs: listRuns(folder) };
  },
});
