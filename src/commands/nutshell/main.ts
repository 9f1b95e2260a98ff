import { runProcess } from "../../cli/process.js";
import { program } from "./program.js";

export const run = (): Promise<number> => runProcess(program);
