import { command } from "../../../cli/command.js";
import { count, dim } from "../../../cli/text.js";
import { balance } from "./balance.js";
import { CLAWNET } from "./clawnet-flags.js";

export default command(balance, {
  flags: CLAWNET,
  examples: [["nutshell balance", "what this node can spend, and what is held for open tasks"]],
  text: (account) => [
    `${count(account.balance, "shell")} to spend`,
    dim(`${account.frozen} held for open tasks, ${account.total_earned} earned, ${account.total_spent} spent`),
    dim(`${account.agent_name} ${account.peer_id}`),
  ],
});
