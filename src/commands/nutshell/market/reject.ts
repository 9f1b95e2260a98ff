import { reject } from "./settle.js";
import { settleCommand } from "./settle-command.js";

export default settleCommand(reject, [["nutshell reject 3f2a", "takes the reward back; final"]]);
