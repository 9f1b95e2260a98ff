import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { green, red } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { renameOver } from "../../../files/index.js";
import { type Fleet, fetchRequest, noteSettled, openEntries, sumOf } from "../../../fleet/index.js";
import type { Context } from "../../../operation.js";
import { withWorkFolder } from "../../../request/open/work-folder.js";
import { unsealed } from "../../../request/pack/sealed.js";
import type { Job } from "../../../schema/fleet.js";
import verify from "../../nutshell/acceptance/verify.js";
import { aboutFleet } from "./about-fleet.js";
import { findJob, jobField } from "./find-job.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";
import { shortId } from "./job-shape.js";

/** How often a job that is waited for is looked at. */
const LOOK_MS = 500;

export default aboutFleet(
  command({
    name: "fleet fetch",
    summary: "bring a delivery here, checked on arrival",
    input: z.object({
      job: jobField(),
      output: flag(z.string().optional(), {
        short: "o",
        value: "<file>",
        about: "where it goes (default: <job>-delivery.nut)",
      }),
      request: flag(z.string().optional(), {
        short: "r",
        value: "<request>",
        about: "the request it answers (default: the file that was submitted, or the fleet's copy)",
      }),
      rerun: flag(z.boolean().default(false), { about: "run the acceptance here, in a clean folder" }),
      wait: flag(z.boolean().default(false), { about: "until it is delivered, cancelled or set aside" }),
      identity: flag(z.array(z.string()).default([]), {
        short: "i",
        value: "<file>",
        about: "keys that open what is sealed",
      }),
      yes: flag(z.boolean().default(false), {
        short: "y",
        about: "with --rerun: do not ask before strangers' checks run",
      }),
      ...FLEET_FLAGS,
    }),
    output: z.object({
      job: z.string(),
      path: z.string(),
      sha256: z.string(),
      worker: z.string(),
      verified: z.boolean(),
      rerun: z.boolean().describe("false: its own record was believed, as nutshell verify --allow recorded does"),
      gaps: z.array(z.string()),
      findings: z.array(z.string()),
    }),
    about: [
      "The bytes are compared with the job's record and the delivery with the request that was submitted, never with what a worker says. Without --rerun the delivery's own record of its checks is believed; with it, they are run here.",
      "Exit 0: verified; 1: it is here, and does not hold.",
    ],
    examples: [
      ["nexus fleet fetch 3f2a --rerun -o done.nut", "believe nobody"],
      ["nexus fleet fetch 3f2a --wait", "as soon as there is something"],
    ],
    run: (input, context) =>
      withWorkFolder(context, (work) =>
        ask(input, context, async (fleet) => {
          const job = await delivered(fleet, input.job, input.wait, context);
          const path = resolve(context.cwd, input.output ?? `${shortId(job.id)}-delivery.nut`);
          if (existsSync(path)) {
            throw new NutError("FILE_EXISTS", `${path}: already exists`, {
              hint: "name another file with -o",
              data: { path },
            });
          }
          const request = input.request ?? (await requestOf(fleet, job, work, context));
          await bring(fleet, job, path, { identity: input.identity, context });
          const { identity, rerun, yes } = input;
          const question = { delivery: path, request, rerun, yes, identity, allow: rerun ? [] : ["recorded"] };
          const { verified, gaps, findings } = await verify.run(verify.input.parse(question), context);
          if (verified) noteSettled(fleet.server, job.id, context);
          const { sha256, worker } = job.result!;
          const words = findings.map(({ message }) => message);
          return { job: job.id, path, sha256, worker, verified, rerun, gaps, findings: words };
        }),
      ),
    text: ({ path, verified, rerun, gaps, findings, worker }) => [
      ...findings.map((message) => `  ${message}`),
      ...(verified ? [] : gaps.map((gap) => `  ${gap}`)),
      verified
        ? `${green("✓")} ${path}: ${rerun ? "verified, its checks were run here" : "whole, and its record holds (--rerun runs its checks here)"}`
        : `${red("✗")} ${path}: from ${worker}, and it does not hold`,
    ],
    exit: ({ verified }) => (verified ? 0 : 1),
  }),
);

async function delivered(fleet: Fleet, wanted: string, wait: boolean, context: Context): Promise<Job> {
  for (;;) {
    const job = await findJob(fleet, wanted, context);
    if (job.state === "delivered") return job;
    if (!wait || job.state === "cancelled" || job.state === "dead") {
      const why = job.reason === undefined ? "" : `: ${job.reason}`;
      const hint =
        job.state === "dead" || job.state === "cancelled"
          ? `nexus fleet retry ${job.id}`
          : `${context.typed ?? `nexus fleet fetch ${job.id}`} --wait`;
      throw new NutError("FLEET_JOB_STATE", `job ${job.id} is ${job.state}${why}`, {
        hint,
        data: { job: job.id, state: job.state },
      });
    }
    await sleep(LOOK_MS, undefined, { signal: context.signal }).catch(() => {
      throw new NutError("INTERRUPTED", "nobody waits for the job any more", {
        hint: context.typed ?? `nexus fleet fetch ${job.id}`,
      });
    });
  }
}

/** The file that was submitted from here while it is the same, or else the fleet's copy of the same bytes. */
async function requestOf(fleet: Fleet, job: Job, work: string, context: Context): Promise<string> {
  const own = openEntries(fleet.server, context).find((entry) => entry.job === job.id);
  if (own !== undefined && existsSync(own.path) && (await sumOf(own.path)).sha256 === own.sha256) return own.path;
  const path = join(work, "request.nut");
  const places = job.request.at === undefined ? [] : [job.request.at];
  await fetchRequest(fleet, job, path, { context, places });
  return path;
}

async function bring(
  fleet: Fleet,
  job: Job,
  path: string,
  { identity, context }: { readonly identity: readonly string[]; readonly context: Context },
): Promise<void> {
  const { sha256, size, sealed } = job.result!;
  if (sealed !== true) return fleet.bundles.getFile(path, { sha256, size });
  const closed = `${path}.sealed`;
  try {
    await fleet.bundles.getFile(closed, { sha256, size });
    const opened = await unsealed(closed, identity, context);
    const pieces: Buffer[] = [];
    if (typeof opened === "string") return renameOver(closed, path);
    for await (const piece of opened) pieces.push(piece as Buffer);
    writeFileSync(path, Buffer.concat(pieces), { flag: "wx" });
  } finally {
    rmSync(closed, { force: true });
  }
}
