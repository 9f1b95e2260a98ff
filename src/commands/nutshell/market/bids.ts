import { z } from "zod";
import { command } from "../../../cli/command.js";
import { dim, table } from "../../../cli/text.js";
import { MarketBid } from "../../../schema/market.js";
import { CLAWNET, TASK } from "./clawnet-flags.js";
import { connect } from "./connect.js";
import { resolveTask } from "./resolve-task.js";

export default command({
  name: "bids",
  summary: "who offers to do a task",
  input: z.object({ ...TASK, ...CLAWNET }),
  output: z.object({ task_id: z.string(), bids: z.array(MarketBid), next: z.string() }),
  examples: [["nutshell bids 3f2a", "who offers, for how much"]],
  async run({ clawnet, id }, context) {
    const market = await connect(clawnet, context);
    const task = await resolveTask(market, id);
    const next = market.line(`assign ${task.id} '<peer>'`);
    return { task_id: task.id, bids: await market.bids(task.id), next };
  },
  text: ({ bids, next }) =>
    bids.length === 0
      ? [dim("no bids yet")]
      : [
          ...table(bids.map((offer) => [offer.bidder_id, offer.bidder_name, String(offer.amount), offer.message])),
          "",
          `to choose one: ${next}`,
        ],
});
