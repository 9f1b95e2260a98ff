import type { Entry } from "../../../cli/command.js";

export const boardEntries: readonly Entry[] = [
  {
    name: "board",
    summary: "watch plans, tasks, agents and runs in the browser",
    group: "Looking",
    load: () => import("./board.js"),
  },
];
