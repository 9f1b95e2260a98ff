// A worker: takes tickets it can serve, holds each job by its lease while the run moves, and makes a stored delivery the
// job's result with one record. Whatever ends it, another goes on.
// Long because: taking, holding, ending and handing over one job share what is known of it.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { NutError } from "../errors.js";
import { makeFolder, removeFolder } from "../files/index.js";
import type { Context } from "../operation.js";
import type { RunFolder } from "../run/index.js";
import { FLEET_VERSION, type FleetEvent, type Job, type Worker } from "../schema/fleet.js";
import { VERSION } from "../version.js";
import type { Cipher } from "./checkpoints.js";
import { isPassing } from "./connect.js";
import type { Fleet } from "./fleet.js";
import { driverLabel, sortedLabels, WAKE } from "./names.js";
import type { Handed } from "./queue.js";
import { type JobEnd, type JobRun, type Programs, SILENT_MS, startJob } from "./run-job.js";
import { addSpent, beginOne } from "./spending.js";
import { type Stored, sumOf } from "./stored-files.js";
import { type Claim, claim, deliver, failed, handBack, refused } from "./transitions.js";

/** How often a worker with nothing to do looks by itself; it is woken when something comes. */
const LOOK_MS = 4_000;
/** A ticket that is not for now comes back after this. */
const LATER_MS = 1_500;

/** What the day has no room for is looked at again after this. */
const OVER_LIMIT_MS = 60_000;
/** A worker at which a job failed leaves it to others for this long. */
const UNFIT_MS = 60_000;
/** After so many tickets that are nothing for now, one that works until nothing is left has nothing left. */
const FRUITLESS = 3;

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

interface Active {
  readonly job: Job;
  handed: Handed;
  run: JobRun | null;
  /** Why it is being stopped. */
  stopping: "drain" | "cancelled" | "lost" | null;
}

export const newWorkerId = (): string => `${hostname().replace(/[^\w-]/g, "-")}-${randomBytes(3).toString("hex")}`;

export class FleetWorker {
  readonly id: string;
  readonly tally: WorkerTally = { delivered: 0, failed: 0, handedBack: 0, discarded: 0, tokens: 0, costUsd: 0 };
  readonly #input: WorkerInput;
  /** By job and fence: a job that was lost and taken again is held twice for a moment. */
  readonly #active = new Map<string, Active>();
  readonly #own: ReadonlySet<string>;
  readonly #since: string;
  #wake: () => void = () => {};
  #woken = false;
  #draining = false;
  /** Turns of jobs that failed here lately: others are given the chance. */
  readonly #unfit = new Map<string, number>();
  /** Tickets in a row that were nothing for now. */
  #fruitless = 0;

  constructor(id: string, input: WorkerInput) {
    this.id = id;
    this.#input = input;
    this.#own = new Set([...input.labels, ...input.drivers.map(driverLabel)]);
    this.#since = input.context.now().toISOString();
  }

  get active(): number {
    return this.#active.size;
  }

  /** Works until the signal says so, or until nothing is left with `untilEmpty`. Jobs at work are handed over. */
  async work(): Promise<WorkerTally> {
    const { fleet, context, slots, untilEmpty } = this.#input;
    let denied: Error | null = null;
    const wakes = fleet.nc.subscribe(WAKE, {
      callback: (error, message) => {
        if (error !== null) denied = error;
        else this.#hear(message.string());
      },
    });
    // Who may not listen there is no worker of this fleet, and is told so at once.
    await fleet.nc.flush();
    if (denied !== null) throw denied;
    const beat = setInterval(() => void this.#beat(), this.#tickMs);
    const drain = () => this.#drain();
    context.signal.addEventListener("abort", drain, { once: true });
    try {
      await this.#announce();
      while (!this.#draining && !context.signal.aborted) {
        this.#woken = false;
        const handed = this.#active.size < slots ? await this.#next() : null;
        if (handed !== null) {
          await this.#take(handed).catch((error: unknown) => this.#trouble(handed, error));
          continue;
        }
        if (untilEmpty && this.#active.size === 0 && (this.#fruitless >= FRUITLESS || (await this.#isEmpty()))) break;
        await this.#pause();
      }
    } finally {
      this.#drain();
      while (this.#active.size > 0) await this.#pause();
      context.signal.removeEventListener("abort", drain);
      clearInterval(beat);
      wakes.unsubscribe();
      await this.#input.fleet.workers.delete(this.id).catch(() => {});
    }
    return this.tally;
  }

  async #next(): Promise<Handed | null> {
    const { fleet } = this.#input;
    try {
      return await fleet.queue.next(this.#own, fleet.settings.lease_ms);
    } catch (error) {
      // A server that is away comes back; a worker is there when it does.
      if (isPassing(error)) return null;
      throw error;
    }
  }

  async #isEmpty(): Promise<boolean> {
    try {
      return await this.#input.fleet.queue.nothingFor(this.#own);
    } catch (error) {
      if (isPassing(error)) return false;
      throw error;
    }
  }

  async #take(handed: Handed): Promise<void> {
    const { fleet, context } = this.#input;
    const { job: id, turn } = handed.ticket;
    const held = this.#holding(id).at(-1);
    const known = await fleet.jobs.get(id);
    // The server thought this worker dead and it is not: it goes on with what it has.
    if (held !== undefined && known?.job.state === "running" && known.job.fence === held.job.fence) {
      held.handed = handed;
      handed.working();
      return;
    }
    if (known === null || (this.#unfit.get(`${id}.${turn}`) ?? 0) > performance.now()) return this.#later(handed);
    const lease = known.job.lease;
    const isHolderGone = lease === undefined || lease.seq === handed.seq || !(await fleet.queue.holds(lease.seq));
    if (known.job.state === "queued" && known.job.fence === 0 && !(await beginOne(fleet, context.now()))) {
      return this.#later(handed, OVER_LIMIT_MS);
    }
    const at = context.now().toISOString();
    let decided: Claim = { kind: "later", why: "" };
    const job = await fleet.jobs.update(id, (now) => {
      decided = claim(now, { worker: this.id, at, turn, seq: handed.seq, isHolderGone });
      return decided.kind === "taken" || decided.kind === "set-aside" ? decided.job : now!;
    });
    await this.#decided(handed, decided, job);
  }

  async #decided(handed: Handed, decided: Claim, job: Job): Promise<void> {
    if (decided.kind === "later") return this.#later(handed);
    this.#fruitless = 0;
    if (decided.kind === "over") return handed.done();
    if (decided.kind === "set-aside") {
      this.#tell(job, { type: "dead", message: job.reason ?? "" });
      return handed.done();
    }
    void this.#hold(handed, job);
  }

  #holding(id: string | undefined): Active[] {
    return [...this.#active.values()].filter(({ job }) => job.id === id);
  }

  #later(handed: Handed, delayMs = LATER_MS): void {
    this.#fruitless += 1;
    handed.back(delayMs);
  }

  /** From the first sign of life to the end. Never throws. */
  async #hold(handed: Handed, job: Job): Promise<void> {
    const { fleet, context } = this.#input;
    const active: Active = { job, handed, run: null, stopping: null };
    const key = `${job.id}.${job.fence}`;
    this.#active.set(key, active);
    const folder = join(this.#input.folder, `${job.id}-${job.fence}`);
    const tick = setInterval(() => void this.#tick(active), this.#tickMs);
    try {
      const from =
        job.checkpoint === undefined ? "" : `, from line ${job.checkpoint.records} of run ${job.checkpoint.run}`;
      this.#tell(job, { type: "taken", message: `${this.id} works on it${from}` });
      makeFolder(folder, 0o700);
      const ciphers = this.#input.cipherFor(job);
      const driver = job.driver ?? this.#input.drivers[0]!;
      active.run = await startJob({
        fleet,
        job,
        folder,
        programs: this.#input.programs(driver),
        cipher: ciphers.checkpoints,
        context,
        adopt: this.#input.adopt,
        onEvent: (event) => this.#relay(job, event),
      });
      if (active.stopping !== null) active.run.stop();
      const end = await active.run.ended;
      await this.#end(active, end, ciphers.delivery);
    } catch (error) {
      await this.#fell(active, error);
    } finally {
      clearInterval(tick);
      removeFolder(folder);
      this.#active.delete(key);
      this.#rouse();
    }
  }

  /** The lease lives on while the run moves; a job that is no longer ours is let go. */
  async #tick(active: Active): Promise<void> {
    const { fleet } = this.#input;
    const moved = active.run === null || performance.now() - active.run.movedAt() < SILENT_MS;
    if (moved) active.handed.working();
    const kept = await fleet.jobs.get(active.job.id).catch(() => undefined);
    if (kept === undefined || active.stopping !== null) return;
    if (kept?.job.state === "running" && kept.job.fence === active.job.fence) return;
    this.#stop(active, kept?.job.state === "cancelled" ? "cancelled" : "lost");
  }

  #stop(active: Active, why: NonNullable<Active["stopping"]>): void {
    if (active.stopping !== null && why === "drain") return;
    active.stopping = why;
    active.run?.stop();
  }

  async #end(active: Active, end: JobEnd, cipher: Cipher | null): Promise<void> {
    const { job } = active;
    if (end.kind === "delivered") return this.#deliver(active, end, cipher);
    if (end.kind === "paused" && end.reason === "interrupted" && active.stopping !== null)
      return this.#handOver(active);
    if (active.stopping === "cancelled" || active.stopping === "lost") return this.#letGo(active);
    const at = this.#input.context.now().toISOString();
    const why =
      end.kind === "paused"
        ? `paused (${end.reason}): ${end.message}`
        : end.kind === "refused"
          ? `${end.code}: ${end.message}`
          : end.message;
    const wasCut = end.kind === "paused" && end.reason === "interrupted";
    const another = end.kind === "crashed" || wasCut || (end.kind === "refused" && OF_THE_MACHINE.has(end.code));
    // What pauses for a person or a limit is not tried again by itself: it would only spend more.
    const next = await this.#input.fleet.jobs.update(job.id, (now) =>
      another ? failed(now, job.fence, { why, at }) : refused(now, job.fence, { why, at }),
    );
    this.tally.failed += 1;
    this.#unfit.set(`${job.id}.${job.turn}`, performance.now() + UNFIT_MS);
    this.#tell(job, { type: next.state === "dead" ? "dead" : "failed", message: why });
    if (next.state === "dead") await active.handed.done();
    else active.handed.back(LATER_MS);
  }

  /** The bundle is stored first; one record makes it the result; the ticket goes last. */
  async #deliver(active: Active, end: JobEnd & { kind: "delivered" }, cipher: Cipher | null): Promise<void> {
    const { fleet, context } = this.#input;
    const { job } = active;
    const tokens = end.result.deliverer?.total_tokens ?? 0;
    const cost_usd = Number((end.result.deliverer as { total_cost_usd?: number } | undefined)?.total_cost_usd ?? 0);
    await addSpent(fleet, context.now(), { tokens, cost_usd });
    const stored = await this.#store(end.path, cipher);
    const result: NonNullable<Job["result"]> = {
      ...stored,
      status: end.result.status,
      ...(cipher === null ? {} : { sealed: true }),
      worker: this.id,
      fence: job.fence,
      at: context.now().toISOString(),
      tokens,
      cost_usd,
    };
    await fleet.jobs.update(job.id, (now) => deliver(now, job.fence, result));
    this.tally.delivered += 1;
    this.tally.tokens += tokens;
    this.tally.costUsd += cost_usd;
    this.#tell(job, { type: "delivered", message: `delivered: ${result.status}`, sha256: stored.sha256 });
    await active.handed.done();
    await active.run?.checkpoints.forget();
  }

  async #store(path: string, cipher: Cipher | null): Promise<Stored> {
    const { bundles } = this.#input.fleet;
    if (cipher !== null) return bundles.putBytes(cipher.seal(readFileSync(path)));
    const stored = await sumOf(path);
    await bundles.putFile(path, stored);
    return stored;
  }

  async #handOver(active: Active): Promise<void> {
    const { job, stopping, handed } = active;
    if (stopping !== "drain") return this.#letGo(active);
    await this.#input.fleet.jobs.update(job.id, (now) =>
      handBack(now, job.fence, this.#input.context.now().toISOString()),
    );
    this.tally.handedBack += 1;
    this.#tell(job, { type: "handed-back", message: `${this.id} stops and hands it over` });
    handed.back();
    this.#input.fleet.nc.publish(WAKE, JSON.stringify({ job: job.id }));
  }

  /** Somebody else has it, or nobody is to have it. */
  async #letGo(active: Active): Promise<void> {
    this.tally.discarded += 1;
    // What is stored of it stays for a while: it may be taken up again.
    if (active.stopping === "cancelled") return active.handed.done();
    this.#tell(active.job, { type: "discarded", message: `${this.id} lost its lease; what it made is discarded` });
  }

  /** The job could not be started or ended here. */
  async #fell(active: Active, error: unknown): Promise<void> {
    if (error instanceof NutError && error.code === "FLEET_LEASE_LOST") {
      active.stopping = error.data.state === "cancelled" ? "cancelled" : "lost";
      return this.#letGo(active);
    }
    if (!(error instanceof NutError) && !isPassing(error)) this.#warn(error);
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof NutError ? error.code : "CRASH";
    await this.#end(
      active,
      OF_THE_MACHINE.has(code) || !(error instanceof NutError)
        ? { kind: "crashed", message }
        : { kind: "refused", code, message },
      null,
    ).catch(
      // Whatever is wrong with the server, the lease runs out and another worker takes it.
      () => {},
    );
  }

  /** What cannot be read here may be somebody's who is newer; a server that is away gives it out again by itself. */
  #trouble(handed: Handed, error: unknown): void {
    if (isPassing(error)) return;
    if (!(error instanceof NutError && error.code === "FLEET_NEWER")) this.#warn(error);
    this.#later(handed);
  }

  #warn(error: unknown): void {
    this.#input.context.progress({ type: "warning", message: error instanceof Error ? error.message : String(error) });
  }

  #relay(job: Job, event: Readonly<Record<string, unknown>>): void {
    const { type, message, task, role, done, total } = event as Record<string, string | number | undefined>;
    // What a sealed request is about is for those who hold its key.
    const words = job.request.sealed === true ? {} : { message, task, role };
    const fields = Object.entries({ ...words, done, total }).filter(([, value]) => value !== undefined);
    this.#tell(job, { type: String(type), ...Object.fromEntries(fields) });
  }

  #tell(job: Job, event: Pick<FleetEvent, "type" | "message"> & Readonly<Record<string, unknown>>): void {
    const { fleet, context } = this.#input;
    const told: FleetEvent = {
      at: context.now().toISOString(),
      job: job.id,
      worker: this.id,
      fence: job.fence,
      ...event,
    };
    fleet.events.tell(told);
    context.progress({
      ...told,
      message: event.message === undefined ? undefined : `${job.id.slice(0, 8)} ${event.message}`,
    } as never);
  }

  #hear(text: string): void {
    try {
      const { cancelled } = JSON.parse(text) as { readonly cancelled?: string };
      // The record is asked: a word on a wire proves nothing.
      for (const active of this.#holding(cancelled)) void this.#tick(active);
    } catch {
      // Not ours.
    }
    this.#rouse();
  }

  #drain(): void {
    this.#draining = true;
    for (const active of this.#active.values()) this.#stop(active, "drain");
    this.#rouse();
  }

  #rouse(): void {
    this.#woken = true;
    this.#wake();
  }

  async #pause(): Promise<void> {
    if (this.#woken) {
      this.#woken = false;
      // Many are woken at once; a moment apart they ask one after another.
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20));
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS * (0.75 + Math.random() / 2));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  get #tickMs(): number {
    return Math.max(250, Math.floor(this.#input.fleet.settings.lease_ms / 4));
  }

  async #beat(): Promise<void> {
    await this.#announce().catch(() => {});
  }

  async #announce(): Promise<void> {
    const { fleet, context, drivers, labels, slots } = this.#input;
    const worker: Worker = {
      version: FLEET_VERSION,
      id: this.id,
      host: hostname(),
      pid: process.pid,
      nutcracker: VERSION,
      drivers: [...drivers],
      labels: sortedLabels(labels),
      slots,
      jobs: [...this.#active.values()].map(({ job }) => job.id),
      draining: this.#draining,
      since: this.#since,
      seen: context.now().toISOString(),
      done: this.tally.delivered,
      failed: this.tally.failed,
    };
    await fleet.workers.put(this.id, JSON.stringify(worker));
  }
}
