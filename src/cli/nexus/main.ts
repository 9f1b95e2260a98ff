import { runProcess } from "../process.js";
import { program } from "./program.js";

export const run = (): Promise<number> => runProcess(program);
