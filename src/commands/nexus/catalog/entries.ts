import type { Entry } from "../../../cli/command.js";

const group = "Roles and skills";

export const catalogEntries: readonly Entry[] = [
  {
    name: "catalog list",
    summary: "list the roles, skills and tags there are",
    group,
    load: () => import("./list.text.js"),
  },
  {
    name: "catalog show",
    summary: "show one role or skill: its limits and its full text",
    group,
    load: () => import("./show.text.js"),
  },
  {
    name: "catalog verify",
    summary: "check that a core folder holds together",
    group,
    load: () => import("./verify.text.js"),
  },
  {
    name: "catalog build",
    summary: "write manifest.json of a core folder from its sources",
    group,
    load: () => import("./build.text.js"),
  },
];
