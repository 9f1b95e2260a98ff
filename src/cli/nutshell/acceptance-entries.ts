import type { Entry } from "../command.js";

const group = "Acceptance";

export const acceptanceEntries: readonly Entry[] = [
  { name: "accept", group, summary: "run a request's acceptance on a clean copy", load: () => import("./accept.js") },
  { name: "verify", group, summary: "check a delivery and what backs its claims", load: () => import("./verify.js") },
];
