import type { Program } from "../../cli/command.js";
import { moreEntries } from "../more/entries.js";
import { acceptanceEntries } from "./acceptance/entries.js";
import { bundleEntries } from "./bundle/entries.js";
import { credentialsEntries } from "./credentials/entries.js";
import { marketEntries } from "./market/entries.js";
import { viewEntries } from "./view/entries.js";

export const program: Program = {
  name: "nutshell",
  summary: "pack a task for an agent, see what it lacks, check what comes back",
  start: [
    ["nutshell init --dir my-task", "a manifest to fill in"],
    ["nutshell check --dir my-task", "what is missing, and how to add it"],
    ["nutshell pack --dir my-task -o my-task.nut", "one file to hand over"],
  ],
  entries: [
    ...bundleEntries,
    ...acceptanceEntries,
    ...credentialsEntries,
    ...viewEntries,
    ...marketEntries,
    ...moreEntries(() => program),
  ],
};
