import { z } from "zod";
import { command } from "../../../cli/command.js";
import { count, dim } from "../../../cli/text.js";
import { Balance } from "../../../schema/market.js";
import { CLAWNET } from "./clawnet-flags.js";
import { connect } from "./connect.js";

export default command({
  name: "balance",
  summary: "the shells this node can spend",
  input: z.object({ ...CLAWNET }),
  output: Balance.extend({ agent_name: z.string() }),
  examples: [["nutshell balance", "what this node can spend, and what is held for open tasks"]],
  async run({ clawnet }, context) {
    const market = await connect(clawnet, context);
    return { ...(await market.balance()), agent_name: await market.agentName() };
  },
  text: (account) => [
    `${count(account.balance, "shell")} to spend`,
    dim(`${account.frozen} held for open tasks, ${account.total_earned} earned, ${account.total_spent} spent`),
    dim(`${account.agent_name} ${account.peer_id}`),
  ],
});
