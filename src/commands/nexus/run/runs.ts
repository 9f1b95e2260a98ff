import { join } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { dim, size, table } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { bytesIn, listRuns, type PruneRules, pruneRuns, runsFolder } from "../../../run/index.js";
import { openProject } from "../../../state/index.js";

export default command({
  name: "runs",
  summary: "the runs of this project, and the space they take",
  input: z.object({
    prune: flag(z.boolean().default(false), { about: "take space back from finished runs" }),
    olderThan: flag(z.string().optional(), {
      value: "<time>",
      about: "with --prune: remove finished runs that began longer ago (12h, 30d, 8w)",
    }),
    atMost: flag(z.string().optional(), {
      value: "<bytes>",
      about: "with --prune: remove the oldest finished runs until the rest fits (500M, 2G)",
    }),
    keep: flag(z.coerce.number().int().min(0).optional(), {
      value: "<n>",
      about: "with --prune: the latest finished runs stay; alone, all before them go",
    }),
    dryRun: flag(z.boolean().default(false), { about: "with --prune: only say what would go" }),
  }),
  output: z.object({
    folder: z.string(),
    bytes: z.number().describe("what all runs take on disk"),
    pruned: z.array(z.object({ id: z.string(), action: z.enum(["removed", "trimmed"]), bytes: z.number() })).optional(),
    dry_run: z.boolean().optional(),
    runs: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        driver: z.string(),
        status: z.enum(["running", "paused", "cancelled", "interrupted", "delivered", "damaged"]),
        detail: z.string(),
        created_at: z.string(),
        tasks: z.object({ total: z.int(), completed: z.int() }),
        delivery: z.string().optional(),
      }),
    ),
  }),
  about: [
    "Runs live in .nexus/state/nutcracker/runs of the project, one folder each. A run that has delivered keeps its journal, the request, the delivery and what agents said; its trees go by themselves. --prune does that for runs that were killed at that moment, and with a rule removes finished runs as a whole. Deliveries (.nut), damaged runs and runs that can go on stay.",
  ],
  examples: [
    ["nexus runs", "every run, oldest first"],
    ["nexus runs --prune --older-than 30d --keep 5", "what is older than a month goes, but for the latest five"],
    ["nexus runs --prune --at-most 2G --dry-run", "what would have to go"],
  ],
  async run({ prune, dryRun, ...rules }, { cwd, env, now }) {
    const folder = runsFolder(openProject(cwd, { env }).root);
    if (!prune && (dryRun || Object.values(rules).some((rule) => rule !== undefined))) {
      throw new NutError("USAGE", "--older-than, --at-most, --keep and --dry-run go with --prune", {
        hint: "nexus runs --prune --older-than 30d --dry-run",
      });
    }
    const pruned = prune ? { pruned: pruneRuns(folder, readRules(rules, now()), dryRun), dry_run: dryRun } : {};
    return { folder, bytes: bytesIn(folder), ...pruned, runs: listRuns(folder) };
  },
  text: ({ folder, runs, pruned, dry_run: isTrial = false, bytes }, { columns }) => {
    if (pruned !== undefined) return prunedText(pruned, bytes, isTrial);
    if (runs.length === 0) return ["no runs yet", dim("nexus run task.nut")];
    const rows = table(
      runs.map(({ id, status, detail, tasks, driver, title }) => [
        id,
        isShort(detail) ? `${status} (${detail})` : status,
        `${tasks.completed}/${tasks.total}`,
        driver,
        title,
      ]),
    );
    return runs.flatMap(({ id, detail, delivery }, index) => [
      cut(rows[index]!, columns),
      // In which folder stands above it; why would be cut off behind that.
      ...(detail === "" || isShort(detail)
        ? []
        : [dim(cut(`  ${detail.replace(join(folder, id, "/"), "")}`, columns))]),
      // Whole, however long: it is there to be pasted.
      ...(delivery === undefined ? [] : [dim(`  ${delivery}`)]),
    ]);
  },
});

interface RuleWords {
  readonly olderThan?: string | undefined;
  readonly atMost?: string | undefined;
  readonly keep?: number | undefined;
}

function readRules({ olderThan, atMost, keep }: RuleWords, now: Date): PruneRules {
  return {
    ...(olderThan === undefined ? {} : { before: new Date(now.getTime() - readAge(olderThan)) }),
    ...(atMost === undefined ? {} : { maxBytes: readSize(atMost) }),
    ...(keep === undefined ? {} : { keep }),
  };
}

const HOUR_MS = 3_600_000;
const AGES: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS };
const SIZES: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

const readAge = (text: string) => readAmount(text, AGES, "--older-than", "30d");
const readSize = (text: string) => readAmount(text, SIZES, "--at-most", "2G");

function readAmount(text: string, units: Readonly<Record<string, number>>, name: string, example: string): number {
  const [, number, unit] = /^(\d{1,9})([a-z])$/i.exec(text) ?? [];
  const factor = unit === undefined ? undefined : units[unit.toLowerCase()];
  if (factor !== undefined) return Number(number) * factor;
  throw new NutError("USAGE", `${name} does not understand "${text.slice(0, 60)}"`, {
    hint: `nexus runs --prune ${name} ${example}`,
  });
}

function prunedText(pruned: readonly { id: string; action: string; bytes: number }[], left: number, isTrial: boolean) {
  const freed = pruned.reduce((sum, { bytes }) => sum + bytes, 0);
  const told = isTrial
    ? `${size(freed)} would be taken back of ${size(left)}`
    : `${size(freed)} taken back, ${size(left)} left`;
  return [
    ...table(pruned.map(({ id, action, bytes }) => [id, action, size(bytes)])),
    pruned.length === 0 ? `nothing to take back; runs take ${size(left)}` : told,
  ];
}

const cut = (line: string, columns: number): string =>
  line.length <= columns ? line : `${line.slice(0, Math.max(1, columns - 1))}…`;

const isShort = (detail: string): boolean => detail !== "" && detail.length <= 12;
