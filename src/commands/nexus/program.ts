import type { Program } from "../../cli/command.js";
import { moreEntries } from "../more/entries.js";
import { boardEntries } from "./board/entries.js";
import { catalogEntries } from "./catalog/entries.js";
import { hostEntries } from "./hosts/entries.js";
import { runEntries } from "./run/entries.js";
import { stateEntries } from "./state/entries.js";

export const program: Program = {
  name: "nexus",
  summary: "hold agents to their roles, and check their work before believing it",
  start: [
    ["nexus run task.nut", "request in, verified delivery out"],
    ["nexus setup claude", "live inside Claude Code, Codex or OpenCode"],
    ["nexus status", "the plan, the tasks and what is ready"],
  ],
  entries: [
    ...runEntries,
    ...stateEntries,
    ...hostEntries,
    ...catalogEntries,
    ...boardEntries,
    ...moreEntries(() => program),
  ],
};
