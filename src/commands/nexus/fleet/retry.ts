import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { green } from "../../../cli/text.js";
import { retry } from "../../../fleet/index.js";
import { parseBudget } from "../../../run/index.js";
import { aboutFleet } from "./about-fleet.js";
import { findJob, jobField } from "./find-job.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";
import { JobShape, shapeOf, shortId } from "./job-shape.js";

export default aboutFleet(
  command({
    name: "fleet retry",
    summary: "another turn for a job that was set aside or cancelled",
    input: z.object({
      job: jobField(),
      budget: flag(z.array(z.string()).default([]), { value: "<limits>", about: "new limits, such as time=20m" }),
      ...FLEET_FLAGS,
    }),
    output: JobShape,
    about: ["It goes on from its last checkpoint, and its count of workers begins anew."],
    examples: [["nexus fleet retry 3f2a --budget time=1h", "with more time than before"]],
    run(input, context) {
      parseBudget(input.budget);
      return ask(input, context, async (fleet) => {
        const { id } = await findJob(fleet, input.job, context);
        const at = context.now().toISOString();
        // Said again after a lost answer, it is the same turn.
        const job = await fleet.jobs.update(id, (now) =>
          now!.state === "queued" && now!.updated_at === at ? now! : retry(now!, { at, budget: input.budget }),
        );
        await fleet.queue.put(job);
        fleet.events.tell({ at, job: id, type: "retried", message: "queued again" });
        return shapeOf(job);
      });
    },
    text: (job) => [`${green("✓")} queued again: ${shortId(job.job)}  ${job.title}`],
  }),
);
