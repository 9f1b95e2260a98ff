import { z } from "zod";
import { rawCommand } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { contextOf } from "../../../cli/io.js";
import { interrupted } from "../../../cli/serving.js";
import { jsonText, render } from "../../../cli/text.js";
import { FleetEvent, type Job } from "../../../schema/fleet.js";
import { aboutFleet } from "./about-fleet.js";
import { findJob, jobField } from "./find-job.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";

/** After one of these nothing more comes, unless the job is retried. */
const LAST: ReadonlySet<string> = new Set(["delivered", "dead", "cancelled"]);

export default aboutFleet(
  rawCommand({
    name: "fleet logs",
    summary: "what happened to a job, from wherever it was worked on",
    input: z.object({
      job: jobField(),
      follow: flag(z.boolean().default(false), { short: "f", about: "and what comes, until it is over" }),
      ...FLEET_FLAGS,
    }),
    output: FleetEvent,
    about: ["With --json one event on a line."],
    examples: [["nexus fleet logs -f 3f2a", "watch it to its end"]],
    async run(input, io, { json }) {
      const context = contextOf(io, json, () => {});
      await ask(input, context, async (fleet) => {
        const job = await findJob(fleet, input.job, context);
        const follow = input.follow && !isOver(job);
        for await (const event of fleet.events.of(job.id, { follow, signal: io.signal })) {
          if (json) io.stdout.write(`${jsonText(event)}\n`);
          else if (event.message !== undefined || LAST.has(event.type)) {
            const { at, worker, type, message } = event;
            io.stdout.write(`${render(`${at} ${worker ?? "-"} ${type}: ${message ?? ""}`, false)}\n`);
          }
          // It may have been taken up again since: the record says.
          if (follow && LAST.has(event.type) && isOver((await fleet.jobs.get(job.id))?.job)) break;
        }
      });
      return io.signal.aborted ? interrupted(io) : 0;
    },
  }),
);

const isOver = (job: Job | undefined): boolean => job?.state !== "queued" && job?.state !== "running";
