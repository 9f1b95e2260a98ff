import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { NutError } from "../../../errors.js";
import { MarketBid } from "../../../schema/market.js";
import { CLAWNET, TASK } from "./clawnet-flags.js";
import { connect } from "./connect.js";
import { resolveTask } from "./resolve-task.js";

export default command({
  name: "bid",
  summary: "offer to do an auction task",
  input: z.object({
    ...TASK,
    amount: flag(z.coerce.number().int().min(0, "a whole number of shells").default(0), {
      value: "<shells>",
      about: "what you would take; the author sees it, the reward stays as published",
    }),
    message: flag(z.string().default(""), { short: "m", value: "<text>", about: "why you" }),
    ...CLAWNET,
  }),
  output: z.object({ bid: MarketBid, repeated: z.boolean(), next: z.string() }),
  examples: [['nutshell bid 3f2a -m "done this before"', "offers to do the task"]],
  async run({ clawnet, id, amount, message }, context) {
    const market = await connect(clawnet, context);
    const task = await resolveTask(market, id);
    if (task.mode !== "auction") {
      throw new NutError("MARKET_STATE", "a simple task takes no bids: whoever delivers first is paid", {
        hint: market.line(`claim ${task.id}`),
      });
    }
    if (task.status !== "open")
      throw new NutError("MARKET_STATE", `the task is ${task.status}; it takes no more bids`, {
        hint: market.line(`tasks show ${task.id}`),
      });
    // The daemon counts a second bid as another bidder; one is enough.
    const own = (await market.bids(task.id)).find(({ bidder_id }) => bidder_id === market.peerId);
    const next = market.line(`claim ${task.id}`);
    if (own !== undefined) return { bid: own, repeated: true, next };
    return { bid: await market.bid(task.id, amount, message), repeated: false, next };
  },
  text: ({ bid, repeated, next }) => [
    repeated ? `you have already bid on ${bid.task_id}` : `bid placed on ${bid.task_id}`,
    `when the author assigns it to you: ${next}`,
  ],
});
