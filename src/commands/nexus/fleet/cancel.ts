import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { yellow } from "../../../cli/text.js";
import { cancel, noteSettled } from "../../../fleet/index.js";
import { aboutFleet } from "./about-fleet.js";
import { findJob, jobField } from "./find-job.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";
import { JobShape, shapeOf, shortId } from "./job-shape.js";

export default aboutFleet(
  command({
    name: "fleet cancel",
    summary: "give a job up, queued or at work",
    input: z.object({
      job: jobField(),
      why: flag(z.string().trim().min(1).default("cancelled by its submitter"), {
        value: "<text>",
        about: "noted with it",
      }),
      ...FLEET_FLAGS,
    }),
    output: JobShape,
    about: [
      "Wins or loses as a whole: a job that has delivered stays delivered (exit 2), one that is cancelled delivers nothing any more. nexus fleet retry takes it up again.",
    ],
    examples: [["nexus fleet cancel 3f2a", "queued or at work, it ends here"]],
    run: (input, context) =>
      ask(input, context, async (fleet) => {
        const { id } = await findJob(fleet, input.job, context);
        const at = context.now().toISOString();
        const job = await fleet.jobs.update(id, (now) => cancel(now!, input.why, at));
        fleet.queue.wake({ cancelled: id });
        // Said again, it happened once.
        if (job.updated_at === at) fleet.events.tell({ at, job: id, type: "cancelled", message: input.why });
        noteSettled(fleet.server, id, context);
        return shapeOf(job);
      }),
    text: (job) => [`${yellow("cancelled")}: ${shortId(job.job)}  ${job.title}`],
  }),
);
