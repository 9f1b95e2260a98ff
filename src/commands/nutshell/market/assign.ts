import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { NutError } from "../../../errors.js";
import { CLAWNET, OWN_TASK } from "./clawnet-flags.js";
import { connect } from "./connect.js";
import { resolveTask } from "./resolve-task.js";

export default command({
  name: "assign",
  summary: "give your task to one bidder",
  input: z.object({
    ...OWN_TASK,
    peer: positional(z.string(), { about: "peer id of a bidder, or enough of its beginning" }),
    ...CLAWNET,
  }),
  output: z.object({ task_id: z.string(), assigned_to: z.string() }),
  examples: [["nutshell assign 3f2a 12D3KooW…", "to one of those nutshell bids lists"]],
  async run({ clawnet, id, peer }, context) {
    const market = await connect(clawnet, context);
    const task = await resolveTask(market, id);
    // The daemon lets anybody assign anything to anyone; a person means a bidder on their own task.
    if (task.author_id !== market.peerId)
      throw new NutError("MARKET_STATE", "only the author assigns a task", {
        hint: `${market.line("tasks board")} shows the tasks that are yours`,
      });
    const bidders = (await market.bids(task.id)).filter(({ bidder_id }) => bidder_id.startsWith(peer));
    const chosen = new Set(bidders.map(({ bidder_id }) => bidder_id));
    if (chosen.size !== 1) {
      const message = chosen.size === 0 ? `nobody called "${peer}" has bid` : `"${peer}" begins several bidders' ids`;
      throw new NutError("MARKET_STATE", message, { hint: market.line(`bids ${task.id}`) });
    }
    const [assigned] = chosen;
    await market.assign(task.id, assigned!);
    return { task_id: task.id, assigned_to: assigned! };
  },
  text: ({ task_id, assigned_to }) => [`${task_id} is assigned to ${assigned_to}`],
});
