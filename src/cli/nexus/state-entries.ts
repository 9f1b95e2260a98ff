import type { Entry } from "../command.js";

const group = "State";

export const stateEntries: readonly Entry[] = [
  { name: "call", group, summary: "call one of the eleven tools", load: () => import("./call.js") },
  { name: "mcp", group, summary: "serve the eleven tools to an agent, over stdio", load: () => import("./mcp.js") },
];
