import type { Entry, Program } from "../command.js";
import { boardEntries } from "./board-entries.js";
import { catalogEntries } from "./catalog-entries.js";
import { hostEntries } from "./host-entries.js";
import { runEntries } from "./run-entries.js";
import { stateEntries } from "./state-entries.js";

const completion: Entry = {
  name: "completion",
  summary: "teach bash, zsh or fish the commands",
  group: "More",
  load: async () => ({ default: (await import("../completion.js")).completionCommand(async () => program) }),
};

const skill: Entry = {
  name: "skill",
  summary: "what an agent must know to use both tools",
  group: "More",
  load: () => import("../skill.js"),
};

export const program: Program = {
  name: "nexus",
  summary: "hold agents to their roles, and check their work before believing it",
  start: [
    ["nexus run task.nut", "request in, verified delivery out"],
    ["nexus setup claude", "live inside Claude Code, Codex or OpenCode"],
    ["nexus status", "the plan, the tasks and what is ready"],
  ],
  entries: [...runEntries, ...stateEntries, ...hostEntries, ...catalogEntries, ...boardEntries, skill, completion],
};
