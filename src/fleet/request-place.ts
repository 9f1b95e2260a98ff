// Where a job's request lies: in the fleet's own store, or, when it is large, at a path or in a registry that workers reach.
// Wherever it comes from, it is the bytes the submitter named or it is refused.
import { copyFileSync, rmSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fromSystemError, NutError } from "../errors.js";
import type { Context } from "../operation.js";
import { pullBundle } from "../request/signatures/registry.js";
import type { Job } from "../schema/fleet.js";
import type { Fleet } from "./fleet.js";
import { sumOf } from "./stored-files.js";

/** A path or an address lies under a place when it is that place or goes on below it. Neither may climb. */
export function liesUnder(at: string, places: readonly string[]): boolean {
  if (at.split(/[/\\]/).includes("..")) return false;
  const next = /^oci:/.test(at) ? ["/", ":", "@"] : ["/"];
  return places.some(
    (place) => at === place || next.some((mark) => at.startsWith(`${place.replace(/\/$/, "")}${mark}`)),
  );
}

export async function fetchRequest(
  { bundles }: Pick<Fleet, "bundles">,
  { request, id }: Pick<Job, "request" | "id">,
  target: string,
  { context, places }: { readonly context: Context; readonly places: readonly string[] },
): Promise<void> {
  const { at, sha256, size } = request;
  if (at === undefined) return bundles.getFile(target, { sha256, size });
  // A submitter does not say what a worker reads.
  if (!liesUnder(at, places)) {
    throw new NutError("FLEET_DENIED", `the request of job ${id} lies at ${at}, where this worker does not look`, {
      hint: "nexus fleet work --from <folder or oci://host/repository> lets it",
      data: { job: id, at },
    });
  }
  if (isAbsolute(at)) copy(at, target);
  else await pullBundle(at, target, { sidecar: false, maxBytes: size }, context);
  const found = await sumOf(target);
  if (found.sha256 === sha256) return;
  rmSync(target, { force: true });
  throw elsewhere(id, `what lies at ${at} is not what was submitted`);
}

function copy(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    throw fromSystemError(error, from) ?? error;
  }
}

const elsewhere = (id: string, why: string): NutError =>
  new NutError("FLEET_CORRUPT", `the request of job ${id} cannot be had: ${why}`, {
    hint: "put it back where it was, or submit it again with --again",
    data: { job: id },
  });
