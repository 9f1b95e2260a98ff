import type { Entry } from "../../../cli/command.js";

const group = "Bundles";

export const bundleEntries: readonly Entry[] = [
  { name: "init", group, summary: "start a task: a manifest to fill in", load: () => import("./init.text.js") },
  {
    name: "check",
    group,
    summary: "what is missing, and the command that adds it",
    load: () => import("./check.text.js"),
  },
  { name: "set", group, summary: "change one field of the manifest", load: () => import("./set.text.js") },
  { name: "pack", group, summary: "pack a folder into one .nut file", load: () => import("./pack.text.js") },
  { name: "unpack", group, summary: "unpack a bundle, every hash checked", load: () => import("./unpack.text.js") },
  { name: "inspect", group, summary: "show what a bundle holds", load: () => import("./inspect.text.js") },
  {
    name: "validate",
    group,
    summary: "check a bundle, folder or manifest against the specification",
    load: () => import("./validate.text.js"),
  },
  {
    name: "compress",
    group,
    summary: "pack with a chosen effort and say where the bytes are",
    load: () => import("./compress.text.js"),
  },
  { name: "diff", group, summary: "compare two bundles or folders", load: () => import("./diff.text.js") },
  { name: "split", group, summary: "take a task apart for several agents", load: () => import("./split.text.js") },
  { name: "merge", group, summary: "put parts back together", load: () => import("./merge.text.js") },
  { name: "schema", group, summary: "JSON Schema of every document", load: () => import("./schema.text.js") },
];
