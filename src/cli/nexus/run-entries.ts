import type { Entry } from "../command.js";

const group = "Run";

export const runEntries: readonly Entry[] = [
  { name: "run", group, summary: "request in, verified delivery out", load: () => import("./run.js") },
  { name: "resume", group, summary: "go on with a run that was stopped", load: () => import("./resume.js") },
  { name: "runs", group, summary: "the runs of this project", load: () => import("./runs.js") },
  {
    name: "drivers",
    group,
    summary: "agents installed here, and what they can do",
    load: () => import("./drivers.js"),
  },
];
