import { z } from "zod";
import { operation } from "../../../operation.js";
import { Balance } from "../../../schema/market.js";
import { connect } from "./connect.js";

export const balance = operation({
  name: "market_balance",
  summary: "show the shells this node can spend",
  input: z.object({ clawnet: z.string().optional() }),
  output: Balance.extend({ agent_name: z.string() }),
  async run({ clawnet }, context) {
    const market = await connect(clawnet, context);
    return { ...(await market.balance()), agent_name: await market.agentName() };
  },
});
