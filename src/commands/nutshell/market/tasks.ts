import { z } from "zod";
import { NutError } from "../../../errors.js";
import type { Market } from "../../../market/index.js";
import { operation } from "../../../operation.js";
import { Board, MarketBid, MarketSubmission, MarketTask } from "../../../schema/market.js";
import { connect } from "./connect.js";

const clawnet = z.string().optional();

export const taskList = operation({
  name: "market_tasks",
  summary: "list the tasks this node knows",
  input: z.object({
    clawnet,
    status: z.string().optional(),
    limit: z.coerce.number().int().min(1).max(500).default(50),
  }),
  output: z.object({ tasks: z.array(MarketTask) }),
  async run({ clawnet: address, status, limit }, context) {
    const market = await connect(address, context);
    return { tasks: await market.list({ limit, ...(status === undefined ? {} : { status }) }) };
  },
});

export const taskBoard = operation({
  name: "market_board",
  summary: "your published and assigned tasks, and what is open to you",
  input: z.object({ clawnet }),
  output: Board,
  async run({ clawnet: address }, context) {
    return (await connect(address, context)).board();
  },
});

export const taskShow = operation({
  name: "market_task",
  summary: "one task with its bids and submissions",
  input: z.object({ clawnet, id: z.string() }),
  output: z.object({ task: MarketTask, bids: z.array(MarketBid), submissions: z.array(MarketSubmission) }),
  async run({ clawnet: address, id }, context) {
    const market = await connect(address, context);
    const task = await resolveTask(market, id);
    return { task, bids: await market.bids(task.id), submissions: await market.submissions(task.id) };
  },
});

/** A full id, or enough of its beginning to mean one task. */
export async function resolveTask(market: Market, id: string): Promise<MarketTask> {
  try {
    return await market.task(id);
  } catch (error) {
    if (!(error instanceof NutError) || error.data.status !== 404 || id.length < 4) throw error;
    const matches = await market.find((task) => task.id.startsWith(id));
    if (matches.length === 1) return matches[0]!;
    const message = matches.length === 0 ? `no task "${id}" on this node` : `"${id}" begins ${matches.length} task ids`;
    throw new NutError("MARKET_STATE", message, { hint: "nutshell tasks", data: { id } });
  }
}
