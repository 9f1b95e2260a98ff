import type { Program } from "../../cli/command.js";
import { entries } from "./table.js";

export const program: Program = {
  name: "nexus",
  summary: "hold agents to their roles, and check their work before believing it",
  start: [
    ["nexus run task.nut", "request in, verified delivery out"],
    ["nexus setup claude", "live inside Claude Code, Codex, OpenCode, Qwen or Gemini"],
    ["nexus status", "the plan, the tasks and what is ready"],
  ],
  entries,
};
