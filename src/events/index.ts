export { CONTEXT_LIMIT, handOver, snapshot } from "./context.js";
export { decide, taskFor } from "./decide.js";
export { allow, type Decision, deny, type Effect, type ToolLogEntry } from "./decision.js";
export type {
  AgentFact,
  EditFact,
  Facts,
  GateFacts,
  IssueFact,
  Knowledge,
  PlanFact,
  SkillFact,
  TaskFact,
} from "./facts.js";
export { gate, mayNotEdit, type Standing, standingOf } from "./gate.js";
export { insideProject, MARK_END, MARK_START, MARKED_FILES, staysBetweenMarks } from "./paths.js";
export { type ShellWrite, shellWrites } from "./shell-writes.js";
export { findTags, type TagRule, type TagUse } from "./tags.js";
