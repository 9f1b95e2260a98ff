import type { Entry } from "../../../cli/command.js";

const group = "Acceptance";

export const acceptanceEntries: readonly Entry[] = [
  {
    name: "accept",
    group,
    summary: "run a request's acceptance on a clean copy",
    load: () => import("./accept.text.js"),
  },
  {
    name: "verify",
    group,
    summary: "check a delivery and what backs its claims",
    load: () => import("./verify.text.js"),
  },
];
