import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { bold, dim, table } from "../../../cli/text.js";
import { MarketTask, TASK_STATUSES } from "../../../schema/market.js";
import { CLAWNET } from "./clawnet-flags.js";
import { connect } from "./connect.js";

const tasks = command({
  name: "tasks",
  summary: "list the tasks this node knows",
  input: z.object({
    status: flag(z.enum(TASK_STATUSES).optional(), { value: "<status>", about: "only tasks in this state" }),
    limit: flag(z.coerce.number().int().min(1).max(500).default(50), {
      value: "<n>",
      about: "at most this many (default: 50)",
    }),
    ...CLAWNET,
  }),
  output: z.object({ tasks: z.array(MarketTask) }),
  examples: [["nutshell tasks --status open", "what could be done now"]],
  async run({ clawnet, status, limit }, context) {
    const market = await connect(clawnet, context);
    return { tasks: await market.list({ limit, ...(status === undefined ? {} : { status }) }) };
  },
  text: ({ tasks: listed }) =>
    listed.length === 0
      ? [dim("no tasks")]
      : table([
          [bold("id"), bold("status"), bold("reward"), bold("title")],
          ...listed.map((task) => [task.id, task.status, String(task.reward), task.title]),
        ]),
});

export default [tasks, { ...tasks, name: "tasks list", summary: "the same", hidden: true }];
