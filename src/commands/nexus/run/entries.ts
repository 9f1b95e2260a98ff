import type { Entry } from "../../../cli/command.js";

const group = "Run";

export const runEntries: readonly Entry[] = [
  { name: "run", group, summary: "request in, verified delivery out", load: () => import("./run.text.js") },
  { name: "resume", group, summary: "go on with a run that was stopped", load: () => import("./resume.text.js") },
  { name: "runs", group, summary: "the runs of this project", load: () => import("./runs.text.js") },
  {
    name: "drivers",
    group,
    summary: "agents installed here, and what they can do",
    load: () => import("./drivers.text.js"),
  },
];
