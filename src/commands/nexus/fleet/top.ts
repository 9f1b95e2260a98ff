import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { rawCommand } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { contextOf } from "../../../cli/io.js";
import { bold, dim, jsonText, render, table, yellow } from "../../../cli/text.js";
import type { Fleet } from "../../../fleet/index.js";
import { JOB_STATES, JobState } from "../../../schema/fleet.js";
import { aboutFleet } from "./about-fleet.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";
import { JobShape, jobRow, shapeOf } from "./job-shape.js";
import { listWorkers } from "./list-workers.js";

const View = z.object({
  at: z.string(),
  counts: z.record(JobState, z.int()),
  workers: z.int(),
  slots: z.int(),
  busy: z.int(),
  silent: z.int(),
  jobs: z.array(JobShape).describe("at work, then what changed last"),
});
type View = z.infer<typeof View>;

/** Lines of jobs that a screen has room for, at the least. */
const LEAST_ROWS = 5;

export default aboutFleet(
  rawCommand({
    name: "fleet top",
    summary: "queue, workers and jobs at a glance, as they change",
    input: z.object({
      every: flag(z.coerce.number().min(0.5).max(3600).default(2), {
        value: "<n>",
        about: "how many seconds apart (default: 2)",
      }),
      once: flag(z.boolean().default(false), { about: "one look, as without a terminal" }),
      ...FLEET_FLAGS,
    }),
    output: View,
    about: ["On a terminal it goes on until Ctrl-C; elsewhere, and with --json, it is one look."],
    examples: [["nexus fleet top", "until Ctrl-C"]],
    async run(input, io, { json }) {
      const context = contextOf(io, json, () => {});
      const isMoving = io.stdout.isTTY === true && !json && !input.once;
      await ask(input, context, async (fleet) => {
        do {
          const view = await lookAt(fleet, io.now());
          if (json) io.stdout.write(`${jsonText(view, 2)}\n`);
          else {
            const rows = Math.max(LEAST_ROWS, ((io.stdout as { rows?: number }).rows ?? 24) - 5);
            const text = lines(view, rows)
              .map((line) => render(line, isMoving))
              .join("\n");
            io.stdout.write(isMoving ? `\x1b[2J\x1b[H${text}\n` : `${text}\n`);
          }
          if (isMoving) await sleep(input.every * 1_000, undefined, { signal: io.signal }).catch(() => {});
        } while (isMoving && !io.signal.aborted);
      });
      return 0;
    },
  }),
);

async function lookAt(fleet: Fleet, now: Date): Promise<View> {
  const [jobs, workers] = await Promise.all([fleet.jobs.all(), listWorkers(fleet, now)]);
  const counts = Object.fromEntries(
    JOB_STATES.map((state) => [state, jobs.filter((job) => job.state === state).length]),
  );
  const latest = [...jobs].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  const alive = workers.filter(({ silent }) => !silent);
  return {
    at: now.toISOString(),
    counts: counts as Record<JobState, number>,
    workers: alive.length,
    slots: alive.reduce((sum, { slots }) => sum + slots, 0),
    busy: alive.reduce((sum, worker) => sum + worker.jobs.length, 0),
    silent: workers.length - alive.length,
    jobs: [...latest.filter(({ state }) => state === "running"), ...latest.filter(({ state }) => state !== "running")]
      .slice(0, 100)
      .map(shapeOf),
  };
}

function lines({ counts, workers, slots, busy, silent, jobs, at }: View, rows: number): string[] {
  const words = JOB_STATES.map((state) => `${counts[state]} ${state}`).join("  ");
  return [
    `${bold("jobs")} ${words}  ${dim(at)}`,
    `${bold("workers")} ${workers}  ${busy} of ${slots} places taken${silent === 0 ? "" : yellow(`  ${silent} silent`)}`,
    "",
    ...table(jobs.slice(0, rows).map(jobRow)),
  ];
}
