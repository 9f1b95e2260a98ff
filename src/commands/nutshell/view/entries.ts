import type { Entry } from "../../../cli/command.js";

const group = "Looking";

export const viewEntries: readonly Entry[] = [
  {
    name: "serve",
    summary: "look at a bundle in the browser, or at two side by side",
    group,
    load: () => import("./serve.js"),
  },
  {
    name: "export",
    summary: "write a bundle as one page to mail or attach",
    group,
    load: () => import("./export.text.js"),
  },
];
