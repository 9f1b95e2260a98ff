// A worker: takes tickets it can serve, and holds each job until it is over. Whatever ends it, another goes on.
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { NutError } from "../errors.js";
import { FLEET_VERSION, type Job, type Worker } from "../schema/fleet.js";
import { VERSION } from "../version.js";
import { isPassing } from "./connect.js";
import { HeldJob, type Holder, LATER_MS, tell, type WorkerInput, type WorkerTally, warn } from "./held-job.js";
import { driverLabel, sortedLabels, WAKE } from "./names.js";
import type { Handed } from "./queue.js";
import { beginOne } from "./spending.js";
import { type Claim, claim } from "./transitions.js";

/** How often a worker with nothing to do looks by itself; it is woken when something comes. */
const LOOK_MS = 4_000;
/** What the day has no room for is looked at again after this. */
const OVER_LIMIT_MS = 60_000;
/** A worker at which a job failed leaves it to others for this long. */
const UNFIT_MS = 60_000;
/** After so many tickets that are nothing for now, one that works until nothing is left has nothing left. */
const FRUITLESS = 3;

export const newWorkerId = (): string => `${hostname().replace(/[^\w-]/g, "-")}-${randomBytes(3).toString("hex")}`;

export class FleetWorker {
  readonly id: string;
  readonly tally: WorkerTally = { delivered: 0, failed: 0, handedBack: 0, discarded: 0, tokens: 0, costUsd: 0 };
  readonly #input: WorkerInput;
  /** By job and fence: a job that was lost and taken again is held twice for a moment. */
  readonly #active = new Map<string, HeldJob>();
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
      tell(this.id, job, this.#input, { type: "dead", message: job.reason ?? "" });
      return handed.done();
    }
    void this.#hold(handed, job);
  }

  #holding(id: string | undefined): HeldJob[] {
    return [...this.#active.values()].filter(({ job }) => job.id === id);
  }

  async #hold(handed: Handed, job: Job): Promise<void> {
    const held = new HeldJob(this.#holder, handed, job);
    const key = `${job.id}.${job.fence}`;
    this.#active.set(key, held);
    try {
      await held.work();
    } finally {
      this.#active.delete(key);
      this.#rouse();
    }
  }

  #later(handed: Handed, delayMs = LATER_MS): void {
    this.#fruitless += 1;
    handed.back(delayMs);
  }

  /** What cannot be read here may be somebody's who is newer; a server that is away gives it out again by itself. */
  #trouble(handed: Handed, error: unknown): void {
    if (isPassing(error)) return;
    if (!(error instanceof NutError && error.code === "FLEET_NEWER")) warn(this.#input, error);
    this.#later(handed);
  }

  #hear(text: string): void {
    try {
      const { cancelled } = JSON.parse(text) as { readonly cancelled?: string };
      // The record is asked: a word on a wire proves nothing.
      for (const active of this.#holding(cancelled)) void active.tick();
    } catch {
      // Not ours.
    }
    this.#rouse();
  }

  #drain(): void {
    this.#draining = true;
    for (const active of this.#active.values()) active.stop("drain");
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

  get #holder(): Holder {
    const onUnfit = ({ id, turn }: Job) => this.#unfit.set(`${id}.${turn}`, performance.now() + UNFIT_MS);
    return { id: this.id, input: this.#input, tally: this.tally, tickMs: this.#tickMs, onUnfit };
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
