export type { AgentEvent, AgentOutcome, AgentRequest, AgentRunner } from "./agents/agent.js";
export { driverRunner } from "./agents/driver-runner.js";
export { demoCommand, toolServer } from "./agents/programs.js";
export { executeRun, type Reply, type RunOutcome } from "./engine/engine.js";
export { isRunBusy, type RunInput } from "./engine/open-run.js";
export { carriesDemoScript, type Peek, peekRequest, previewRun } from "./plan/preview.js";
export { parseBudget } from "./record/budget.js";
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
export type { RunOptions } from "./record/options.js";
