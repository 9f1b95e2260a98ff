export type { AgentEvent, AgentOutcome, AgentRequest, AgentRunner } from "./agents/agent.js";
export { parseBudget } from "./agents/budget.js";
export { driverRunner } from "./agents/driver-runner.js";
export { demoCommand, toolServer } from "./agents/programs.js";
export { executeRun, type Reply, type RunOutcome } from "./execute-run.js";
export { carriesDemoScript, peekRequest } from "./open/peek.js";
export { previewRun } from "./open/preview.js";
export {
  createRun,
  findRun,
  hasPlan,
  listRuns,
  newRunId,
  type RunFolder,
  type RunSummary,
  readOptions,
  removeRun,
  runFolder,
  runsFolder,
} from "./record/folder.js";
export { isRunBusy } from "./record/lock.js";
export type { RunOptions } from "./record/options.js";
