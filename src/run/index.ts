export type { AgentEvent, AgentOutcome, AgentRequest, AgentRunner } from "./agent.js";
export { parseBudget } from "./budget.js";
export { driverRunner } from "./driver-runner.js";
export { executeRun, type Reply, type RunOutcome } from "./engine.js";
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
} from "./folder.js";
export { isRunBusy, type RunInput } from "./open-run.js";
export type { RunOptions } from "./options.js";
export { carriesDemoScript, type Peek, peekRequest, previewRun } from "./preview.js";
export { demoCommand, toolServer } from "./programs.js";
