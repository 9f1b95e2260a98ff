// What a server forgot is handed in again, and what it lost from its queue is queued again. Nothing is done twice by it: a job
// that is there is that job, and a ticket too many is found over.
import { existsSync, rmSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { NutError } from "../errors.js";
import type { Context } from "../operation.js";
import { pullBundle } from "../request/signatures/registry.js";
import type { Fleet } from "./fleet.js";
import { type LedgerEntry, openEntries } from "./ledger.js";
import { sumOf } from "./stored-files.js";
import { submit } from "./submit.js";

export interface Reconciled {
  readonly job: string;
  readonly title: string;
  /** known: the server has it; resubmitted: it had forgotten it; requeued: its ticket was gone; lost: the request is gone here too. */
  readonly action: "known" | "resubmitted" | "requeued" | "lost";
  readonly why?: string;
}

export async function reconcile(fleet: Fleet, context: Context, scratch: string): Promise<Reconciled[]> {
  const done: Reconciled[] = [];
  for (const entry of openEntries(fleet.server, context)) {
    if ((await fleet.jobs.get(entry.job)) === null) done.push(await handInAgain(fleet, entry, context, scratch));
  }
  const again = new Set(done.map(({ job }) => job));
  const queued = new Set<string>();
  for await (const { job, turn } of fleet.queue.tickets()) queued.add(`${job}.${turn}`);
  for (const job of await fleet.jobs.all()) {
    const { id, turn, state, title } = job;
    if (state !== "queued" && state !== "running") continue;
    const isQueued = queued.has(`${id}.${turn}`);
    if (!isQueued) await fleet.queue.putAgain(job);
    if (again.has(id)) continue;
    if (isQueued) done.push({ job: id, title, action: "known" });
    else done.push({ job: id, title, action: "requeued", why: "its ticket was gone from the queue" });
  }
  return done;
}

async function handInAgain(fleet: Fleet, entry: LedgerEntry, context: Context, scratch: string): Promise<Reconciled> {
  const { server: _, job, sha256, ...submission } = entry;
  const { title, path } = entry;
  const lost = (why: string): Reconciled => ({ job, title, action: "lost", why });
  const pulled = join(scratch, `${job}.nut`);
  try {
    if (!isAbsolute(path)) await pullBundle(path, pulled, { sidecar: false }, context);
    const file = isAbsolute(path) ? path : pulled;
    if (!existsSync(file)) return lost(`${path} is gone`);
    if ((await sumOf(file)).sha256 !== sha256) return lost(`${path} is another request by now`);
    await submit(fleet, { ...submission, file }, context);
    return { job, title, action: "resubmitted" };
  } catch (error) {
    if (error instanceof NutError && /^(?:FILE|REGISTRY)_/.test(error.code)) return lost(error.message);
    throw error;
  } finally {
    rmSync(pulled, { force: true });
  }
}
