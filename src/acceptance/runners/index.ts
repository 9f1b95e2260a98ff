export { prepareRun, readRun } from "./prepare-run.js";
export type { PreparedRun, RunnerRoom, TreeView } from "./runner.js";
