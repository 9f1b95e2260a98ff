import { z } from "zod";
import { command } from "../../../cli/command.js";
import { dim, table } from "../../../cli/text.js";
import { listRuns, runsFolder } from "../../../run/index.js";
import { openProject } from "../../../state/index.js";

export default command({
  name: "runs",
  summary: "the runs of this project",
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
  about: ["Runs live in .nexus/state/nutcracker/runs of the project, one folder each."],
  examples: [["nexus runs", "every run, oldest first"]],
  async run(_, { cwd, env }) {
    const folder = runsFolder(openProject(cwd, { env }).root);
    return { folder, runs: listRuns(folder) };
  },
  text: ({ runs }, { columns }) => {
    if (runs.length === 0) return ["no runs yet", dim("nexus run task.nut")];
    const rows = table(
      runs.map(({ id, status, detail, tasks, driver, title }) => [
        id,
        isShort(detail) ? `${status} (${detail})` : status,
        `${tasks.completed}/${tasks.total}`,
        driver,
        title,
      ]),
    );
    return runs.flatMap(({ detail, delivery }, index) => [
      cut(rows[index]!, columns),
      ...(detail === "" || isShort(detail) ? [] : [dim(cut(`  ${detail}`, columns))]),
      // Whole, however long: it is there to be pasted.
      ...(delivery === undefined ? [] : [dim(`  ${delivery}`)]),
    ]);
  },
});

const cut = (line: string, columns: number): string =>
  line.length <= columns ? line : `${line.slice(0, Math.max(1, columns - 1))}…`;

const isShort = (detail: string): boolean => detail !== "" && detail.length <= 12;
