import { z } from "zod";
import { command } from "../../../cli/command.js";
import { bold, count, dim } from "../../../cli/text.js";
import { Job } from "../../../schema/fleet.js";
import { aboutFleet, asTyped } from "./about-fleet.js";
import { findJob, jobField } from "./find-job.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";
import { shapeOf, stateWords } from "./job-shape.js";

export default aboutFleet(
  command({
    name: "fleet show",
    summary: "one job: who had it, where it stands, what came of it",
    input: z.object({ job: jobField(), ...FLEET_FLAGS }),
    output: Job.extend({ next: z.string().nullable().describe("what brings the delivery here") }),
    examples: [["nexus fleet show 3f2a", "the job whose id begins so"]],
    run: (input, context) =>
      ask(input, context, async (fleet) => {
        const job = await findJob(fleet, input.job, context);
        const next = job.result === undefined ? null : asTyped(`nexus fleet fetch ${job.id}`, input);
        return { ...(structuredClone(job) as z.output<typeof Job>), next };
      }),
    text(job) {
      const { lease, checkpoint, result, request } = job;
      const where = request.at ?? "the fleet's store";
      return [
        `${bold(job.id)}  ${job.title}`,
        `  state: ${stateWords(shapeOf(job))}${job.reason === undefined ? "" : `: ${job.reason}`}`,
        `  request: sha256:${request.sha256}, ${request.size} bytes, in ${where}${request.sealed === true ? ", sealed" : ""}`,
        `  needs: ${job.labels.length === 0 ? "nothing in particular" : job.labels.join(", ")}; priority ${job.priority}`,
        ...(job.budget.length === 0 ? [] : [`  budget: ${job.budget.join(",")}`]),
        `  given out ${count(job.fence, "time")}${job.deaths === 0 ? "" : `, cost ${count(job.deaths, "worker")}`}`,
        ...job.tried.map(({ worker, why, at }) => dim(`    ${at} ${worker}: ${why}`)),
        ...(lease === undefined ? [] : [`  at work: ${lease.worker} since ${lease.at}`]),
        ...(checkpoint === undefined
          ? []
          : [`  checkpoint: run ${checkpoint.run}, line ${checkpoint.records}, ${checkpoint.at}`]),
        ...(result === undefined
          ? []
          : [`  delivery: sha256:${result.sha256}, by ${result.worker}, ${result.at}`, dim(`  fetch it: ${job.next}`)]),
      ];
    },
  }),
);
