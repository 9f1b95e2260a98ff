// The job a person means: its id, the beginning of it, or the request that was handed in.
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { positional } from "../../../cli/fields.js";
import { NutError, shellWord } from "../../../errors.js";
import { type Fleet, submittedAs, sumOf } from "../../../fleet/index.js";
import type { Context } from "../../../operation.js";
import type { Job } from "../../../schema/fleet.js";

export const jobField = () =>
  positional(z.string(), { about: "its id, the beginning of it, or the request file that was submitted" });

/** Throws FLEET_JOB_NOT_FOUND. Of a request that was handed in more than once, the latest. */
export async function findJob(fleet: Fleet, wanted: string, context: Context): Promise<Job> {
  const path = resolve(context.cwd, wanted);
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return fleet.jobs.find(wanted);
  const { sha256 } = await sumOf(path);
  const noted = submittedAs(fleet.server, sha256, context);
  const kept = noted === null ? null : await fleet.jobs.get(noted);
  if (kept !== null) return kept.job;
  const found = (await fleet.jobs.all()).findLast(({ request }) => request.sha256 === sha256);
  if (found !== undefined) return found;
  throw new NutError("FLEET_JOB_NOT_FOUND", `${wanted} was not handed in to ${fleet.server}`, {
    hint: `nexus fleet submit ${shellWord(wanted)}`,
    data: { wanted },
  });
}
