import { z } from "zod";
import { NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { MarketBid } from "../../../schema/market.js";
import { connect } from "./connect.js";
import { resolveTask } from "./tasks.js";

const clawnet = z.string().optional();

export const bids = operation({
  name: "market_bids",
  summary: "who offers to do a task",
  input: z.object({ clawnet, id: z.string() }),
  output: z.object({ task_id: z.string(), bids: z.array(MarketBid) }),
  async run({ clawnet: address, id }, context) {
    const market = await connect(address, context);
    const task = await resolveTask(market, id);
    return { task_id: task.id, bids: await market.bids(task.id) };
  },
});

export const bid = operation({
  name: "market_bid",
  summary: "offer to do an auction task",
  input: z.object({
    clawnet,
    id: z.string(),
    amount: z.coerce.number().int().min(0, "a whole number of shells").default(0),
    message: z.string().default(""),
  }),
  output: z.object({ bid: MarketBid, repeated: z.boolean() }),
  async run({ clawnet: address, id, amount, message }, context) {
    const market = await connect(address, context);
    const task = await resolveTask(market, id);
    if (task.mode !== "auction") {
      throw new NutError("MARKET_STATE", "a simple task takes no bids: whoever delivers first is paid", {
        hint: `nutshell claim ${task.id}`,
      });
    }
    if (task.status !== "open")
      throw new NutError("MARKET_STATE", `the task is ${task.status}; it takes no more bids`, {
        hint: `nutshell tasks show ${task.id}`,
      });
    // The daemon counts a second bid as another bidder; one is enough.
    const own = (await market.bids(task.id)).find(({ bidder_id }) => bidder_id === market.peerId);
    if (own !== undefined) return { bid: own, repeated: true };
    return { bid: await market.bid(task.id, amount, message), repeated: false };
  },
});

export const assign = operation({
  name: "market_assign",
  summary: "give your task to one bidder",
  input: z.object({ clawnet, id: z.string(), peer: z.string().describe("peer id of a bidder, or its beginning") }),
  output: z.object({ task_id: z.string(), assigned_to: z.string() }),
  async run({ clawnet: address, id, peer }, context) {
    const market = await connect(address, context);
    const task = await resolveTask(market, id);
    // The daemon lets anybody assign anything to anyone; a person means a bidder on their own task.
    if (task.author_id !== market.peerId)
      throw new NutError("MARKET_STATE", "only the author assigns a task", {
        hint: "nutshell tasks board shows the tasks that are yours",
      });
    const bidders = (await market.bids(task.id)).filter(({ bidder_id }) => bidder_id.startsWith(peer));
    const chosen = new Set(bidders.map(({ bidder_id }) => bidder_id));
    if (chosen.size !== 1) {
      const message = chosen.size === 0 ? `nobody called "${peer}" has bid` : `"${peer}" begins several bidders' ids`;
      throw new NutError("MARKET_STATE", message, { hint: `nutshell bids ${task.id}` });
    }
    const [assigned] = chosen;
    await market.assign(task.id, assigned!);
    return { task_id: task.id, assigned_to: assigned! };
  },
});
