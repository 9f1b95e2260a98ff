// Which commands are tried with how much of what. docs/growth.md says which are not here.
import {
  bundle,
  changeable,
  cycles,
  editAll,
  edited,
  event,
  folder,
  fresh,
  freshFolder,
  freshParts,
  hideable,
  issues,
  nextEnd,
  nextName,
  nextStart,
  type Program,
  parts,
  paused,
  repository,
  runs,
  signingKey,
  tasks,
  vault,
  watched,
} from "./growth-inputs.js";

type Words = readonly string[];

export interface Case {
  /** `command: what grows` */
  readonly name: string;
  readonly program: Program;
  readonly steps: readonly number[];
  readonly args: (n: number) => Words | Promise<Words>;
  readonly cwd?: (n: number) => string;
  /** What is given to it on its standard input. */
  readonly input?: (n: number) => string;
  /** Other exit codes than yes and no that are right. */
  readonly codes?: readonly number[];
}

const FILES = [100, 1_000, 10_000, 100_000];
/** Bundles of more than 50,000 entries are opened by unpack and inspect alone, when told so. */
const BUNDLED = [100, 1_000, 10_000, 49_000];
/** A task of others holds at most 20,000. */
const IMPORTED = [100, 1_000, 10_000, 19_000];
const MANY = ["--max-entries", "200000"];
const MEGABYTES = [1, 10, 100, 1_000];
const LINES = [4_000, 40_000, 400_000];
const ENTRIES = [20, 200, 2_000, 20_000];
const SPACES = [2_000, 20_000, 200_000];
const OFTEN = [5, 50, 500];
const DEPTH = [15, 150, 1_500];
const CREDENTIALS = [10, 100, 1_000, 10_000];
const TASKS = [30, 300, 3_000];
const CYCLES = [300, 3_000, 30_000];
const RUNS = [20, 200, 2_000];
/** How much an agent changes. */
const CHANGED = [100, 1_000, 10_000];
const JOURNAL = [2_000, 20_000, 200_000];

const ours = (
  command: string,
  what: string,
  steps: readonly number[],
  args: Case["args"],
  codes: Words | readonly number[] = [],
): Case => ({
  ...{ name: `${command}: ${what}`, program: "nutshell", steps, args },
  codes: codes.map(Number),
});

const packed = (command: string, axis: Parameters<typeof folder>[0], n: number): Words => [
  ...[command, "--force", "-d", folder(axis, n), "-o", fresh("out.nut")],
];

const byFiles = (command: string, args: (n: number) => Words | Promise<Words>, codes: readonly number[] = []): Case =>
  ours(command, "files", FILES, args, codes);

const bundled = (command: string, args: (n: number) => Words | Promise<Words>, codes: readonly number[] = []): Case =>
  ours(command, "files", BUNDLED, args, codes);

const NUTSHELL: readonly Case[] = [
  byFiles("pack", (n) => packed("pack", "files", n)),
  byFiles("compress", (n) => packed("compress", "files", n)),
  byFiles("unpack", (n) => ["unpack", bundle("files", n), ...MANY, "-o", fresh("out")]),
  byFiles("inspect", (n) => ["inspect", bundle("files", n), ...MANY]),
  byFiles("validate", (n) => ["validate", bundle("files", n)]),
  byFiles("check", (n) => ["check", folder("files", n)]),
  ours("check a bundle", "files", BUNDLED, (n) => ["check", bundle("files", n)]),
  byFiles("set", (n) => ["set", "task.title", "Growth", "-d", folder("files", n)]),
  bundled("diff", (n) => ["diff", bundle("files", n), folder("files", n)]),
  byFiles("split", (n) => ["split", folder("files", n), "-n", "2", "-o", freshParts(n)]),
  byFiles("merge", (n) => ["merge", ...parts(n), "-o", fresh("merged")]),
  bundled("export", (n) => ["export", bundle("files", n), "-o", fresh("page.html")]),
  bundled("accept", (n) => ["accept", folder("files", n), "-r", bundle("files", n), "--quick"]),
  bundled("statement", (n) => ["statement", bundle("files", n)]),
  bundled("log", (n) => ["log", bundle("files", n)]),
  bundled("verify", (n) => ["verify", bundle("delivery", n), "-r", bundle("files", n)]),
  bundled(
    "finish",
    (n) => ["finish", folder("files", n), "-r", bundle("files", n), "-m", "m", "-o", fresh("done.nut")],
    [2],
  ),
  bundled("sign", (n) => ["sign", changeable("files", n), "--key", signingKey()]),
  bundled("judge", (n) => [
    ...["judge", changeable("delivery", n), "-r", bundle("judged", n), "--all", "--status", "passed"],
    ...["--by", "Ada", "--why", "read"],
  ]),
  bundled("apply", (n) => [
    ...["apply", bundle("delivery", n), "--repo", repository(n), "--base", "HEAD", "--patch", fresh("work.patch")],
  ]),
  byFiles("hide", async (n) => ["hide", ...(await hideable(n))]),
  ours("import", "files", IMPORTED, (n) => ["import", "terminal-bench", folder("foreign", n), "-o", fresh("imported")]),
  { ...bundled("serve", (n) => ["serve", bundle("files", n), "--port", "0"]), program: "browse" },
  ours("validate a delivery", "files", BUNDLED, (n) => ["validate", bundle("delivery", n)]),

  ours("pack", "megabytes", MEGABYTES, (n) => packed("pack", "megabytes", n)),
  ours("unpack", "megabytes", MEGABYTES, (n) => ["unpack", bundle("megabytes", n), "-o", fresh("out")]),
  ours("validate", "megabytes", MEGABYTES, (n) => ["validate", bundle("megabytes", n)]),
  ours("inspect", "megabytes", MEGABYTES, (n) => ["inspect", bundle("megabytes", n)]),
  ours("check", "megabytes", MEGABYTES, (n) => ["check", folder("megabytes", n)]),
  ours("diff", "megabytes", MEGABYTES, (n) => ["diff", bundle("megabytes", n), folder("megabytes", n)]),
  ours("export", "megabytes", [1, 10, 100], (n) => ["export", bundle("megabytes", n), "-o", fresh("page.html")], [2]),

  ours("diff -t", "lines", LINES, (n) => ["diff", "-t", folder("lines", n), folder("otherLines", n)]),
  ours("pack", "blank lines", LINES, (n) => packed("pack", "blanks", n)),
  ours("check", "blank lines", LINES, (n) => ["check", folder("blanks", n)]),

  ours("check", "entries of lists", ENTRIES, (n) => ["check", folder("entries", n)]),
  ours("validate", "entries of lists", ENTRIES, (n) => ["validate", folder("entries", n)]),
  ours("inspect", "entries of lists", ENTRIES, (n) => ["inspect", bundle("entries", n)]),
  ours("set -a", "entries of lists", ENTRIES, (n) => [
    ...["set", "acceptance.checklist", "one more", "-a", "-d", folder("entries", n)],
  ]),
  ours("check", "one path listed often", OFTEN, (n) => ["check", bundle("repeats", n)]),
  ours("validate", "one path listed often", OFTEN, (n) => ["validate", bundle("repeats", n)]),
  ours("inspect", "one path listed often", OFTEN, (n) => ["inspect", bundle("repeats", n)]),
  ours("accept", "spaces in a constraint", SPACES, (n) => ["accept", folder("spaces", n), "--quick"]),
  ours("check", "spaces in a constraint", SPACES, (n) => ["check", folder("spaces", n)]),

  ours("check", "depth", DEPTH, (n) => ["check", folder("depth", n)], [2]),
  ours("pack", "depth", DEPTH, (n) => packed("pack", "depth", n), [2]),
  ours("diff", "depth", DEPTH, (n) => ["diff", folder("depth", n), folder("depth", n)], [2]),
  ours("split", "depth", DEPTH, (n) => ["split", folder("depth", n), "-n", "2", "-o", fresh(`deep-${n}`)], [2]),
  ours("merge", "depth", DEPTH, (n) => ["merge", folder("depth", n), "-o", fresh("merged-deep")], [2]),
  ours("accept", "depth", DEPTH, (n) => ["accept", folder("depth", n), "--quick"], [2]),

  ...(
    [
      ["credentials", []],
      ["rotate", []],
      ["reveal", ["credential-0"]],
      ["exec", ["--with", "credential-0", "--", "true"]],
    ] as const
  ).map(([command, more]) =>
    ours(command, "credentials", CREDENTIALS, async (n) => {
      const { dir, key } = await vault(n);
      return [command, "-d", dir, "-i", key, ...more];
    }),
  ),
];

const harness = (
  command: string,
  what: string,
  steps: readonly number[],
  cwd: Case["cwd"],
  more: Words = [],
): Case => ({
  ...{ name: `nexus ${command}: ${what}`, program: "nexus", steps, args: () => [...command.split(" "), ...more] },
  ...(cwd === undefined ? {} : { cwd }),
});

const NEXUS: readonly Case[] = [
  harness("status", "tasks", TASKS, tasks),
  harness("task", "tasks", TASKS, tasks),
  harness("task add", "tasks", TASKS, tasks, ["one more", "context"]),
  harness("context", "tasks", TASKS, tasks),
  harness("plan", "issues", TASKS, issues),
  harness("history", "cycles", CYCLES, cycles, ["absent"]),
  harness("status", "cycles", CYCLES, cycles),
  harness("runs", "runs", RUNS, runs),
  harness("doctor", "runs", RUNS, runs),
  harness("setup", "files", FILES, repository, ["claude", "--dry-run"]),
  harness("doctor", "files", FILES, repository),
  {
    name: "nexus run: files",
    program: "nexus",
    steps: BUNDLED,
    args: (n) => ["run", bundle("files", n), "--driver", "noop", "--plan", "work", "-o", fresh("out.nut")],
    cwd: (n) => repository(Math.min(n, 1)),
    codes: [2],
  },
  {
    name: "nexus run --repo: files",
    program: "nexus",
    steps: FILES,
    args: (n) => [
      "run",
      bundle("files", 1),
      "--repo",
      repository(n),
      "--driver",
      "noop",
      "--plan",
      "work",
      "-o",
      fresh("out.nut"),
    ],
    cwd: (n) => repository(n),
    codes: [2],
  },
];

const resumed = (what: string, steps: readonly number[], cwd: (n: number) => string): Case => ({
  ...harness("resume", what, steps, cwd, ["--driver", "noop", "--answer", "go on"]),
  codes: [2],
});

const hook = (name: string, steps: readonly number[], cwd: (n: number) => string, input: Case["input"]): Case => ({
  ...{ name: `nexus hook, ${name}`, program: "hook", steps, args: () => ["claude"], cwd },
  ...(input === undefined ? {} : { input }),
});

const LATER: readonly Case[] = [
  {
    name: "nexus run: changed files",
    program: "nexus",
    steps: CHANGED,
    args: (n) => editAll(n, fresh("out.nut")),
    cwd: () => freshFolder(nextName("project")),
  },
  ours("verify", "changed files", CHANGED, (n) => ["verify", edited(n), "--base", repository(n)]),
  {
    name: "nexus race: files",
    program: "nexus",
    steps: BUNDLED,
    args: (n) => ["race", bundle("files", n), "--with", "command:true", "--plan", "work", "-o", fresh("raced")],
    cwd: (n) => repository(Math.min(n, 1)),
  },
  {
    name: "nexus race --repo, four: files",
    program: "nexus",
    steps: FILES,
    args: (n) => [
      ...["race", bundle("files", 1), "--repo", repository(n), "--plan", "work", "-o", fresh("raced")],
      ...["a", "b", "c"].flatMap((name) => ["--with", `${name}=command:sleep 5`]),
    ],
    cwd: (n) => repository(n),
  },
  {
    name: "nexus race, four: files",
    program: "nexus",
    steps: BUNDLED,
    args: (n) => [
      ...["race", bundle("files", n), "--plan", "work", "-o", fresh("raced")],
      ...["a", "b", "c"].flatMap((name) => ["--with", `${name}=command:sleep 5`]),
    ],
    cwd: (n) => repository(Math.min(n, 1)),
  },
  resumed("files", BUNDLED, (n) => paused(n, 0)),
  resumed("lines of the journal", JOURNAL, (n) => paused(1, n)),
  hook("a tool: tasks", TASKS, tasks, (n) =>
    event("PreToolUse", tasks(n), { tool_name: "Read", tool_input: { file_path: "a" } }),
  ),
  hook("a session's start: tasks", TASKS, tasks, (n) => event("SessionStart", tasks(n), { source: "startup" })),
  hook("a prompt: cycles", CYCLES, cycles, (n) => event("UserPromptSubmit", cycles(n), { prompt: "[plan] go" })),
  hook("a role's start: files", FILES, watched, (n) => nextStart(watched(n))),
  hook("a role's end: files", FILES, watched, (n) => nextEnd(watched(n))),
];

export const CASES: readonly Case[] = [...NUTSHELL, ...NEXUS, ...LATER];
