import type { Program } from "../../cli/command.js";
import { entries } from "./table.js";

export const program: Program = {
  name: "nutshell",
  summary: "pack a task for an agent, see what it lacks, check what comes back",
  start: [
    ["nutshell init --dir my-task", "a manifest to fill in"],
    ["nutshell check --dir my-task", "what is missing, and how to add it"],
    ["nutshell pack --dir my-task -o my-task.nut", "one file to hand over"],
  ],
  entries,
};
