import type { Entry } from "../command.js";

const group = "State";

export const stateEntries: readonly Entry[] = [
  { name: "call", group, summary: "call one of the eleven tools", load: () => import("./call.js") },
  { name: "mcp", group, summary: "serve the eleven tools to an agent, over stdio", load: () => import("./mcp.js") },
  {
    name: "conformance",
    group,
    summary: "run conformance fixtures against the real tools",
    load: () => import("./conformance.js"),
  },
  {
    name: "conformance coverage",
    group,
    summary: "check that fixtures cover every field and parameter",
    load: () => import("./conformance-coverage.js"),
  },
];
