import { NutError } from "../../../errors.js";
import type { Market } from "../../../market/index.js";
import type { MarketTask } from "../../../schema/market.js";

/** A full id, or enough of its beginning to mean one task. */
export async function resolveTask(market: Market, id: string): Promise<MarketTask> {
  try {
    return await market.task(id);
  } catch (error) {
    if (!(error instanceof NutError) || error.data.status !== 404 || id.length < 4) throw error;
    const matches = await market.find((task) => task.id.startsWith(id));
    if (matches.length === 1) return matches[0]!;
    const message = matches.length === 0 ? `no task "${id}" on this node` : `"${id}" begins ${matches.length} task ids`;
    throw new NutError("MARKET_STATE", message, { hint: market.line("tasks"), data: { id } });
  }
}
