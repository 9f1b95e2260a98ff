export { writeArtifact } from "./artifacts.js";
export {
  agentTracker,
  type Document,
  editTracker,
  extensionFile,
  historyFile,
  ownFile,
  planFile,
  reopenTracker,
  sessionsFile,
  tasksFile,
} from "./documents.js";
export { findRoot, findTop, linkedTrees } from "./find-root.js";
export { cycleIdentity, DEFAULT_LAST_N, searchHistory } from "./history.js";
export { assertFolderInside, DEFAULT_HARNESS_ID, type Env, type Layout, layoutOf } from "./layout.js";
export { isHeld, type Lock, openLock } from "./lock.js";
export { decidePlan, planStatus, startPlan, updatePlan } from "./plan.js";
export { forgetProjects, type OpenOptions, openProject, type Project } from "./project.js";
export { isRefusal, type Refusal } from "./refusal.js";
export { sessionContext } from "./session-context.js";
export type { StoreOptions } from "./store.js";
export {
  addTask,
  closeCycle,
  listTasks,
  type NeverReady,
  neverReady,
  summarize,
  type TaskSummary,
  updateTask,
} from "./tasks.js";
export { logTool } from "./tool-log.js";
export {
  editsByFile,
  recordEdits,
  trackComplete,
  trackedAgents,
  trackResume,
  trackSpawn,
} from "./trackers.js";
