import { cancel } from "./settle.js";
import { settleCommand } from "./settle-command.js";

export default settleCommand(cancel, [["nutshell cancel 3f2a", "until something is delivered"]]);
