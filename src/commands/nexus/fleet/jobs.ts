import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { count, dim, table } from "../../../cli/text.js";
import { JOB_STATES, JobState } from "../../../schema/fleet.js";
import { aboutFleet } from "./about-fleet.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";
import { JobShape, jobRow, shapeOf } from "./job-shape.js";

export default aboutFleet(
  command({
    name: "fleet jobs",
    summary: "the jobs of the fleet, and how they stand",
    input: z.object({
      state: flag(z.array(JobState).default([]), { value: "<status>", about: `only these: ${JOB_STATES.join(", ")}` }),
      dead: flag(z.boolean().default(false), { about: "only those that were set aside, with the reason" }),
      last: flag(z.coerce.number().int().min(1).default(50), {
        short: "n",
        value: "<n>",
        about: "the latest so many (default: 50)",
      }),
      all: flag(z.boolean().default(false), { about: "every one of them" }),
      ...FLEET_FLAGS,
    }),
    output: z.object({
      total: z.int(),
      counts: z.record(JobState, z.int()),
      jobs: z.array(JobShape).describe("oldest first"),
    }),
    examples: [
      ["nexus fleet jobs", "the latest fifty"],
      ["nexus fleet jobs --dead", "what was set aside, and why"],
      ["nexus fleet jobs --all --json", "everything, for a program"],
    ],
    run: (input, context) =>
      ask(input, context, async ({ jobs }) => {
        const all = await jobs.all();
        const counts = Object.fromEntries(
          JOB_STATES.map((state) => [state, all.filter((job) => job.state === state).length]),
        );
        const wanted = new Set([...input.state, ...(input.dead ? (["dead"] as const) : [])]);
        const shown = wanted.size === 0 ? all : all.filter(({ state }) => wanted.has(state));
        const jobsShown = (input.all ? shown : shown.slice(-input.last)).map(shapeOf);
        return { total: all.length, counts: counts as Record<JobState, number>, jobs: jobsShown };
      }),
    text({ total, counts, jobs }) {
      const words = JOB_STATES.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`);
      return [
        ...table(jobs.map(jobRow)),
        dim(`${count(total, "job")}${words.length === 0 ? "" : `: ${words.join(", ")}`}`),
      ];
    },
  }),
);
