import { approve } from "./settle.js";
import { settleCommand } from "./settle-command.js";

export default settleCommand(approve, [["nutshell approve 3f2a", "pays the reward; final"]]);
