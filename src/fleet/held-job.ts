// One job in a worker's hands: from the claim, through the run, to the one record that makes a stored delivery its result.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NutError } from "../errors.js";
import { makeFolder, removeFolder } from "../files/index.js";
import type { Context } from "../operation.js";
import type { RunFolder } from "../run/index.js";
import type { FleetEvent, Job } from "../schema/fleet.js";
import type { Cipher } from "./checkpoints.js";
import { isPassing, patiently } from "./connect.js";
import type { Fleet } from "./fleet.js";
import { WAKE } from "./names.js";
import type { Handed } from "./queue.js";
import { type JobEnd, type JobRun, type Programs, SILENT_MS, startJob } from "./run-job.js";
import { addSpent } from "./spending.js";
import { type Stored, sumOf } from "./stored-files.js";
import { deliver, failed, handBack, refused } from "./transitions.js";

/** A ticket that is not for now comes back after this. */
export const LATER_MS = 1_500;

/** What another machine may well be able to do. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set([
  ...["DISK_FULL", "FILE_UNWRITABLE", "FILE_UNREADABLE", "PROGRAM_MISSING", "SANDBOX_MISSING", "SANDBOX_UNSAFE"],
  ...["DRIVER_MISSING", "DRIVER_TOO_OLD", "INSTALL_FAILED", "BUNDLE_SEALED", "VAULT_NO_MATCHING_KEY"],
  ...["FLEET_DENIED", "FLEET_UNREACHABLE", "FLEET_NOT_READY", "RUN_DAMAGED", "RUN_NEWER", "CATALOG_MISSING"],
]);

export interface WorkerInput {
  readonly fleet: Fleet;
  readonly context: Context;
  /** Drivers it has, the preferred one first; what starts each is this machine's word. */
  readonly drivers: readonly string[];
  readonly labels: readonly string[];
  readonly slots: number;
  /** A folder of this worker alone. */
  readonly folder: string;
  readonly programs: (driver: string) => Programs;
  /** For sealed jobs: the fleet's key, and whom a delivery is for. */
  readonly cipherFor: (job: Job) => { readonly checkpoints: Cipher | null; readonly delivery: Cipher | null };
  readonly adopt: (folder: RunFolder) => void;
  /** Ends when nothing is left that it could take. */
  readonly untilEmpty: boolean;
}

export interface WorkerTally {
  delivered: number;
  failed: number;
  handedBack: number;
  discarded: number;
  tokens: number;
  costUsd: number;
}

/** The worker, as far as its jobs know it. */
export interface Holder {
  readonly id: string;
  readonly input: WorkerInput;
  readonly tally: WorkerTally;
  /** How often a lease is renewed. */
  readonly tickMs: number;
  /** The job failed here: others are given the chance. */
  readonly onUnfit: (job: Job) => void;
}

type Told = Pick<FleetEvent, "type" | "message"> & Readonly<Record<string, unknown>>;

/** Tells everybody who listens, and the person at this worker's terminal. */
export function tell(worker: string, job: Job, { fleet, context }: WorkerInput, event: Told): void {
  const told: FleetEvent = { at: context.now().toISOString(), job: job.id, worker, fence: job.fence, ...event };
  fleet.events.tell(told);
  context.progress({
    ...told,
    message: event.message === undefined ? undefined : `${job.id.slice(0, 8)} ${event.message}`,
  } as never);
}

export function warn({ context }: WorkerInput, error: unknown): void {
  context.progress({ type: "warning", message: error instanceof Error ? error.message : String(error) });
}

type Stopping = "drain" | "cancelled" | "lost";

export class HeldJob {
  readonly job: Job;
  /** Replaced when the server thought this worker dead and gives the same ticket again. */
  handed: Handed;
  readonly #holder: Holder;
  #run: JobRun | null = null;
  /** Why it is being stopped. */
  #stopping: Stopping | null = null;

  constructor(holder: Holder, handed: Handed, job: Job) {
    this.#holder = holder;
    this.handed = handed;
    this.job = job;
  }

  /** From the first sign of life to the end. Never throws. */
  async work(): Promise<void> {
    const { job } = this;
    const { id, input, tickMs } = this.#holder;
    const { fleet, context } = input;
    const folder = join(input.folder, `${job.id}-${job.fence}`);
    const tick = setInterval(() => void this.tick(), tickMs);
    try {
      const from =
        job.checkpoint === undefined ? "" : `, from line ${job.checkpoint.records} of run ${job.checkpoint.run}`;
      this.#tell({ type: "taken", message: `${id} works on it${from}` });
      makeFolder(folder, 0o700);
      const ciphers = input.cipherFor(job);
      const driver = job.driver ?? input.drivers[0]!;
      this.#run = await startJob({
        fleet,
        job,
        folder,
        programs: input.programs(driver),
        cipher: ciphers.checkpoints,
        context,
        adopt: input.adopt,
        onEvent: (event) => this.#relay(event),
      });
      if (this.#stopping !== null) this.#run.stop();
      await this.#end(await this.#run.ended, ciphers.delivery);
    } catch (error) {
      await this.#fell(error);
    } finally {
      clearInterval(tick);
      removeFolder(folder);
    }
  }

  /** The lease lives on while the run moves; a job that is no longer ours is let go. */
  async tick(): Promise<void> {
    const { fleet } = this.#holder.input;
    const moved = this.#run === null || performance.now() - this.#run.movedAt() < SILENT_MS;
    if (moved) this.handed.working();
    const kept = await fleet.jobs.get(this.job.id).catch(() => undefined);
    if (kept === undefined || this.#stopping !== null) return;
    if (kept?.job.state === "running" && kept.job.fence === this.job.fence) return;
    this.stop(kept?.job.state === "cancelled" ? "cancelled" : "lost");
  }

  stop(why: Stopping): void {
    if (this.#stopping !== null && why === "drain") return;
    this.#stopping = why;
    this.#run?.stop();
  }

  async #end(end: JobEnd, cipher: Cipher | null): Promise<void> {
    const { job } = this;
    if (end.kind === "delivered") return this.#deliver(end, cipher);
    if (end.kind === "paused" && end.reason === "interrupted" && this.#stopping !== null) return this.#handOver();
    if (this.#stopping === "cancelled" || this.#stopping === "lost") return this.#letGo();
    const at = this.#holder.input.context.now().toISOString();
    const why =
      end.kind === "paused"
        ? `paused (${end.reason}): ${end.message}`
        : end.kind === "refused"
          ? `${end.code}: ${end.message}`
          : end.message;
    const wasCut = end.kind === "paused" && end.reason === "interrupted";
    const another = end.kind === "crashed" || wasCut || (end.kind === "refused" && OF_THE_MACHINE.has(end.code));
    // What pauses for a person or a limit is not tried again by itself: it would only spend more.
    const next = await this.#holder.input.fleet.jobs.update(job.id, (now) =>
      another ? failed(now, job.fence, { why, at }) : refused(now, job.fence, { why, at }),
    );
    this.#holder.tally.failed += 1;
    this.#holder.onUnfit(job);
    this.#tell({ type: next.state === "dead" ? "dead" : "failed", message: why });
    if (next.state === "dead") await this.handed.done();
    else this.handed.back(LATER_MS);
  }

  /** The bundle is stored first; one record makes it the result; the ticket goes last. */
  async #deliver(end: JobEnd & { kind: "delivered" }, cipher: Cipher | null): Promise<void> {
    const { fleet, context } = this.#holder.input;
    const { job } = this;
    const tokens = end.result.deliverer?.total_tokens ?? 0;
    const cost_usd = Number((end.result.deliverer as { total_cost_usd?: number } | undefined)?.total_cost_usd ?? 0);
    await patiently(() => addSpent(fleet, context.now(), { tokens, cost_usd }));
    const stored = await patiently(() => this.#store(end.path, cipher));
    const result: NonNullable<Job["result"]> = {
      ...stored,
      status: end.result.status,
      ...(cipher === null ? {} : { sealed: true }),
      worker: this.#holder.id,
      fence: job.fence,
      at: context.now().toISOString(),
      tokens,
      cost_usd,
    };
    await fleet.jobs.update(job.id, (now) => deliver(now, job.fence, result));
    this.#holder.tally.delivered += 1;
    this.#holder.tally.tokens += tokens;
    this.#holder.tally.costUsd += cost_usd;
    this.#tell({ type: "delivered", message: `delivered: ${result.status}`, sha256: stored.sha256 });
    await this.handed.done();
    await this.#run?.checkpoints.forget();
  }

  async #store(path: string, cipher: Cipher | null): Promise<Stored> {
    const { bundles } = this.#holder.input.fleet;
    if (cipher !== null) return bundles.putBytes(cipher.seal(readFileSync(path)));
    const stored = await sumOf(path);
    await bundles.putFile(path, stored);
    return stored;
  }

  async #handOver(): Promise<void> {
    const { job, handed } = this;
    if (this.#stopping !== "drain") return this.#letGo();
    await this.#holder.input.fleet.jobs.update(job.id, (now) =>
      handBack(now, job.fence, this.#holder.input.context.now().toISOString()),
    );
    this.#holder.tally.handedBack += 1;
    this.#tell({ type: "handed-back", message: `${this.#holder.id} stops and hands it over` });
    handed.back();
    this.#holder.input.fleet.nc.publish(WAKE, JSON.stringify({ job: job.id }));
  }

  /** Somebody else has it, or nobody is to have it. */
  async #letGo(): Promise<void> {
    this.#holder.tally.discarded += 1;
    // What is stored of it stays for a while: it may be taken up again.
    if (this.#stopping === "cancelled") return this.handed.done();
    this.#tell({ type: "discarded", message: `${this.#holder.id} lost its lease; what it made is discarded` });
  }

  /** The job could not be started or ended here. */
  async #fell(error: unknown): Promise<void> {
    if (error instanceof NutError && error.code === "FLEET_LEASE_LOST") {
      this.#stopping = error.data.state === "cancelled" ? "cancelled" : "lost";
      return this.#letGo();
    }
    if (!(error instanceof NutError) && !isPassing(error)) warn(this.#holder.input, error);
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof NutError ? error.code : "CRASH";
    await this.#end(
      OF_THE_MACHINE.has(code) || !(error instanceof NutError)
        ? { kind: "crashed", message }
        : { kind: "refused", code, message },
      null,
    ).catch(
      // Whatever is wrong with the server, the lease runs out and another worker takes it.
      () => {},
    );
  }

  #relay(event: Readonly<Record<string, unknown>>): void {
    const { type, message, task, role, done, total } = event as Record<string, string | number | undefined>;
    // What a sealed request is about is for those who hold its key.
    const words = this.job.request.sealed === true ? {} : { message, task, role };
    const fields = Object.entries({ ...words, done, total }).filter(([, value]) => value !== undefined);
    this.#tell({ type: String(type), ...Object.fromEntries(fields) });
  }

  #tell(event: Told): void {
    tell(this.#holder.id, this.job, this.#holder.input, event);
  }
}
