import type { Entry } from "../../../cli/command.js";

const group = "Hosts";

export const hostEntries: readonly Entry[] = [
  {
    name: "setup",
    group,
    summary: "live inside Claude Code, Codex or OpenCode",
    load: () => import("./setup.text.js"),
  },
  {
    name: "doctor",
    group,
    summary: "what is installed where, and whether it works",
    load: () => import("./doctor.text.js"),
  },
  { name: "hook", group, summary: "answer an event of a host (hosts call this)", load: () => import("./hook.js") },
];
