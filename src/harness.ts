// The harness as a library: the public face of `nutcracker/harness`. State, catalog, events and drivers stand on their own;
// the operations are what the command line and the MCP server offer, as functions of an input and a context.
export {
  blockedClasses,
  type Catalog,
  effectiveCapabilities,
  findAgent,
  findSkill,
  loadCatalog,
  renderPrompt,
} from "./catalog/index.js";
export { default as runResume } from "./commands/nexus/run/resume.js";
export { runOne as runStart } from "./commands/nexus/run/run-one.js";
export { default as runList } from "./commands/nexus/run/runs.js";
export { DRIVER_NAMES, type Driver, type DriverEvent, type DriverName, loadDriver } from "./drivers/index.js";
export { type Finding, NutError } from "./errors.js";
export { type Decision, decide, type Facts } from "./events/index.js";
export type { Context, Operation } from "./operation.js";
export type { LifecycleEvent } from "./schema/events.js";
export { openProject, type Project } from "./state/index.js";
export { tools } from "./tools/tools.js";
