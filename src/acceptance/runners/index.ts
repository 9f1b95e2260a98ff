// The face of runners. What is to come here, for those who build on it:
//   prepareRun(check, view, room): Promise<PreparedRun | Outcome>
//   readRun(check, prepared, result, reports): Outcome
export type { PreparedRun, RunnerRoom, TreeView } from "./runner.js";
