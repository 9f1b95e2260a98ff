// The groups of commands as help shows them. A command stands in the folder of its group; what is not named in `order`
// comes last. `npx tsx scripts/generate-commands.ts` writes the tables from the commands' own files.
export interface Group {
  readonly folder: string;
  readonly title: string;
  readonly order: readonly string[];
}

const more: Group = { folder: "more", title: "More", order: ["skill", "completion"] };

export const nutshellGroups: readonly Group[] = [
  {
    folder: "nutshell/bundle",
    title: "Bundles",
    order: "init import check set pack unpack inspect validate compress diff split merge schema".split(" "),
  },
  {
    folder: "nutshell/acceptance",
    title: "Acceptance",
    order: ["accept", "finish", "verify", "apply", "judge", "hide"],
  },
  {
    folder: "nutshell/credentials",
    title: "Credentials",
    order: "keygen add-credential credentials exec reveal rotate apply-rotation revoke".split(" "),
  },
  {
    folder: "nutshell/trust",
    title: "Who says so",
    order: ["sign", "log", "statement", "attach", "trust add", "trust list", "trust remove"],
  },
  { folder: "nutshell/registry", title: "Registries (OCI)", order: ["push", "pull", "copy", "tags"] },
  { folder: "nutshell/view", title: "Looking", order: ["serve", "export"] },
  {
    folder: "nutshell/market",
    title: "Market (ClawNet, optional)",
    order: [
      ..."publish claim deliver receive".split(" "),
      ...["tasks", "tasks list", "tasks board", "tasks show"],
      ..."bids bid assign approve reject cancel balance profile".split(" "),
    ],
  },
  more,
];

export const nexusGroups: readonly Group[] = [
  { folder: "nexus/run", title: "Run", order: ["run", "resume", "pause", "cancel", "runs", "drivers", "export"] },
  { folder: "nexus/race", title: "Comparing", order: ["race", "bench"] },
  {
    folder: "nexus/state",
    title: "State",
    order: [
      "status",
      ...["plan", "plan start", "plan decide", "plan add", "plan edit", "plan remove", "plan reopen"],
      ...["task", "task add", "task start", "task done", "task reopen", "task close"],
      ..."history context artifact call mcp".split(" "),
    ],
  },
  { folder: "nexus/conformance", title: "State", order: ["conformance", "conformance coverage"] },
  { folder: "nexus/hosts", title: "Hosts", order: ["setup", "doctor", "hook"] },
  {
    folder: "nexus/catalog",
    title: "Roles and skills",
    order: ["catalog list", "catalog show", "catalog verify", "catalog build"],
  },
  { folder: "nexus/board", title: "Looking", order: ["board"] },
  more,
];
