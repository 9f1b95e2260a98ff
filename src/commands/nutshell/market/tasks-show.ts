import { z } from "zod";
import { command } from "../../../cli/command.js";
import { bold, dim, table } from "../../../cli/text.js";
import { MarketBid, MarketSubmission, MarketTask } from "../../../schema/market.js";
import { CLAWNET, TASK } from "./clawnet-flags.js";
import { connect } from "./connect.js";
import { resolveTask } from "./resolve-task.js";

export default command({
  name: "tasks show",
  summary: "one task, its bids and work",
  input: z.object({ ...TASK, ...CLAWNET }),
  output: z.object({ task: MarketTask, bids: z.array(MarketBid), submissions: z.array(MarketSubmission) }),
  examples: [["nutshell tasks show 3f2a", "one task, its bids and work"]],
  async run({ clawnet, id }, context) {
    const market = await connect(clawnet, context);
    const task = await resolveTask(market, id);
    return { task, bids: await market.bids(task.id), submissions: await market.submissions(task.id) };
  },
  text: ({ task, bids, submissions }) => [
    bold(task.title),
    ...table(
      [
        ["id", task.id],
        ["status", `${task.status} (${task.mode || "simple"})`],
        ["reward", `${task.reward} shells`],
        ["author", `${task.author_name} ${task.author_id}`],
        ["assigned to", task.assigned_to],
        ["meant for", task.target_peer],
        ["tags", task.tags.join(", ")],
        ["deadline", task.deadline],
        ["bundle", task.nutshell_hash],
        ["result", task.result],
      ].filter(([, value]) => value !== ""),
    ),
    ...(task.description === "" ? [] : ["", task.description]),
    ...(bids.length === 0 ? [] : ["", bold("Bids")]),
    ...table(bids.map((bid) => [`  ${bid.bidder_id}`, String(bid.amount), bid.message])),
    ...(submissions.length === 0 ? [] : ["", bold("Submissions")]),
    ...submissions.map((one) => `  ${one.worker_id} ${dim(one.submitted_at)} ${one.result}`),
  ],
});
