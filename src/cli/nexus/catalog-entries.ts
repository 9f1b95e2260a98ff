import type { Entry } from "../command.js";

const group = "Roles and skills";

export const catalogEntries: readonly Entry[] = [
  {
    name: "catalog list",
    summary: "list the roles, skills and tags there are",
    group,
    load: () => import("./catalog-list.js"),
  },
  {
    name: "catalog show",
    summary: "show one role or skill: its limits and its full text",
    group,
    load: () => import("./catalog-show.js"),
  },
  {
    name: "catalog verify",
    summary: "check that a core folder holds together",
    group,
    load: () => import("./catalog-verify.js"),
  },
  {
    name: "catalog build",
    summary: "write manifest.json of a core folder from its sources",
    group,
    load: () => import("./catalog-build.js"),
  },
];
