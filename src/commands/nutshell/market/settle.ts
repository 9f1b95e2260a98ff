import { z } from "zod";
import { command } from "../../../cli/command.js";
import type { Market } from "../../../market/index.js";
import type { Context } from "../../../operation.js";
import { lastMarketRow, recordMarket } from "../../../request/records/market-record.js";
import { CLAWNET, OWN_TASK, YES } from "./clawnet-flags.js";
import { connect, retyped } from "./connect.js";
import { resolveTask } from "./resolve-task.js";
import { settleTask, type Verb } from "./settle-task.js";

/** Three ends of a task, asked for and answered the same way. */
const settle = (verb: Verb, summary: string, example: string) =>
  command({
    name: verb,
    summary,
    input: z.object({ ...OWN_TASK, ...YES, ...CLAWNET }),
    output: z.object({ task_id: z.string(), status: z.string(), paid: z.number(), returned: z.number() }),
    examples: [[`nutshell ${verb} 3f2a`, example]],
    async run({ clawnet, id, yes }, context) {
      const market = await connect(clawnet, context);
      const task = await resolveTask(market, id);
      const isUnproven = verb === "approve" && task.status === "submitted" && warnUnproven(task.id, market, context);
      const note = () => recordMarket({ kind: "waived", task: task.id, reason: "approved by hand" }, context);
      const command = retyped([verb, task.id], { clawnet });
      return settleTask(market, task, verb, context, { yes, command, ...(isUnproven ? { agreed: note } : {}) });
    },
    text: ({ task_id, status, paid, returned }) => [
      `${task_id} is ${status}`,
      paid > 0 ? `${paid} shells paid` : `${returned} shells returned to you`,
    ],
  });

/** Paying by hand is a person's own word, and is kept as such when they have given it. */
function warnUnproven(task: string, market: Market, context: Context): boolean {
  if (lastMarketRow(context.env, "proven", (row) => row.task === task) !== null) return false;
  const receive = market.line(`receive ${task} --file '<file>' --approve`);
  context.progress({ type: "warning", message: `nothing proved this delivery here: ${receive} does` });
  return true;
}

export default [
  settle("approve", "accept a delivery and pay for it", "pays the reward; final"),
  settle("reject", "refuse a delivery", "takes the reward back; final"),
  settle("cancel", "take back a task", "until something is delivered"),
];
