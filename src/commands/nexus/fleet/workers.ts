import { z } from "zod";
import { command } from "../../../cli/command.js";
import { count, dim, green, table, yellow } from "../../../cli/text.js";
import { Worker } from "../../../schema/fleet.js";
import { aboutFleet } from "./about-fleet.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";
import { shortId } from "./job-shape.js";
import { listWorkers } from "./list-workers.js";

export default aboutFleet(
  command({
    name: "fleet workers",
    summary: "who works, on what, and when they were last heard of",
    input: z.object({ ...FLEET_FLAGS }),
    output: z.object({ workers: z.array(Worker.extend({ silent: z.boolean().describe("not heard of for a lease") })) }),
    examples: [["nexus fleet workers", "every worker of the last ten minutes"]],
    run: (input, context) =>
      ask(input, context, async (fleet) => ({ workers: (await listWorkers(fleet, context.now())) as never })),
    text: ({ workers }) => [
      ...table(
        workers.map(({ id, silent, draining, jobs, slots, drivers, labels, seen, done }) => [
          silent ? yellow(id) : green(id),
          silent ? yellow(`silent since ${seen}`) : draining ? "draining" : `${jobs.length} of ${slots} at work`,
          drivers.join(", "),
          labels.join(", "),
          `${done} done`,
          dim(jobs.map(shortId).join(" ")),
        ]),
      ),
      dim(count(workers.length, "worker")),
    ],
  }),
);
