export { decide } from "./decide.js";
export type { Decision, Effect, ToolLogEntry } from "./decision.js";
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
export { callerStanding, gate } from "./gate.js";
export { insideProject } from "./paths.js";
export type { ShellWrite } from "./shell-writes.js";
export type { TagRule, TagUse } from "./tags.js";
