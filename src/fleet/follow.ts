// A fleet as it changes, for whoever watches: records, workers and events are followed, not asked for again and again. When
// the line to the server was cut, everything is read anew: a server may have forgotten something meanwhile.
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ConsumerMessages,
  DeliverPolicy,
  type JsMsg,
  jetstream,
  type OrderedConsumerOptions,
} from "@nats-io/jetstream";
import { NutError } from "../errors.js";
import { FleetEvent, Job, Worker } from "../schema/fleet.js";
import { refusalOf } from "./connect.js";
import type { Fleet } from "./fleet.js";
import { WORKER_MS } from "./layout.js";
import { EVENTS, JOBS, WORKERS } from "./names.js";

/** Events that are remembered, of all jobs together. */
const MOST_EVENTS = 300;
const AGAIN_MS = 1_000;

/** A record, and when the server wrote it down, by its own clock. */
export interface Written<T> {
  readonly value: T;
  readonly at: number;
}

export interface Followed {
  readonly jobs: Map<string, Written<Job>>;
  readonly workers: Map<string, Written<Worker>>;
  /** Oldest first. */
  readonly events: FleetEvent[];
}

const nothing = (): Followed => ({ jobs: new Map(), workers: new Map(), events: [] });

export class FleetFollower {
  readonly #fleet: Fleet;
  readonly #signal: AbortSignal;
  readonly #heard: () => void;
  #known = nothing();
  #readers: ConsumerMessages[] = [];
  /** Why what is known may be old; null while the server is heard. */
  away: string | null = null;

  /** `heard`: something changed. Ends with the signal. */
  constructor(fleet: Fleet, signal: AbortSignal, heard: () => void) {
    this.#fleet = fleet;
    this.#signal = signal;
    this.#heard = heard;
    signal.addEventListener("abort", () => this.#leave(), { once: true });
  }

  /** What the server has, without what it has let go by now. */
  at(now: Date): Followed {
    const { jobs, workers } = this.#known;
    forgetBefore(jobs, now.getTime() - this.#fleet.settings.keep_ms);
    forgetBefore(workers, now.getTime() - WORKER_MS);
    return this.#known;
  }

  /** Resolves when everything was read once. Throws what the server refuses. */
  async start(): Promise<void> {
    void this.#watchLine();
    await this.#read();
  }

  async #watchLine(): Promise<void> {
    for await (const { type } of this.#fleet.nc.status()) {
      if (this.#signal.aborted) return;
      if (type === "disconnect") this.#say(`${this.#fleet.server} does not answer`);
      if (type === "reconnect") await this.#readAgain();
    }
  }

  async #readAgain(): Promise<void> {
    for (; !this.#signal.aborted; await sleep(AGAIN_MS)) {
      try {
        await this.#read();
        return this.#say(null);
      } catch (error) {
        const refusal = refusalOf(error, this.#fleet.server);
        this.#say(refusal instanceof NutError ? refusal.message : String(error));
        if (this.#fleet.nc.isClosed()) return;
      }
    }
  }

  /** What is shown is replaced at once, when all of it is here. */
  async #read(): Promise<void> {
    this.#leave();
    const known = nothing();
    const { state } = await this.#fleet.jsm.streams.info(EVENTS);
    const from = Math.max(1, state.first_seq, state.last_seq - MOST_EVENTS + 1);
    const latest = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from };
    await Promise.all([
      this.#follow(`KV_${JOBS}`, newestIn(JOBS), (message) => enter(known.jobs, Job, message)),
      this.#follow(`KV_${WORKERS}`, newestIn(WORKERS), (message) => enter(known.workers, Worker, message)),
      this.#follow(EVENTS, latest, (message) => {
        const event = FleetEvent.safeParse(parsed(message));
        if (event.success) known.events.push(event.data);
        if (known.events.length > MOST_EVENTS) known.events.shift();
      }),
    ]);
    this.#known = known;
    this.#heard();
  }

  /** Resolves when what is there was taken; what comes is taken as it comes. */
  async #follow(stream: string, from: Partial<OrderedConsumerOptions>, take: (message: JsMsg) => void): Promise<void> {
    const consumer = await jetstream(this.#fleet.nc).consumers.get(stream, from);
    let left = (await consumer.info()).num_pending;
    const messages = await consumer.consume();
    this.#readers.push(messages);
    await new Promise<void>((resolve) => {
      if (left === 0) resolve();
      void (async () => {
        for await (const message of messages) {
          take(message);
          left -= 1;
          if (left <= 0) {
            resolve();
            this.#heard();
          }
        }
        resolve();
      })();
    });
  }

  #say(why: string | null): void {
    this.away = why;
    this.#heard();
  }

  #leave(): void {
    for (const reader of this.#readers.splice(0)) reader.stop();
  }
}

/** Each record as it is now. */
const newestIn = (bucket: string): Partial<OrderedConsumerOptions> => ({
  deliver_policy: DeliverPolicy.LastPerSubject,
  filter_subjects: `$KV.${bucket}.>`,
});

function enter<T extends { readonly id: string }>(
  known: Map<string, Written<T>>,
  schema: { safeParse(value: unknown): { readonly success: boolean; readonly data?: T } },
  message: JsMsg,
): void {
  const id = message.subject.split(".").at(-1)!;
  const isGone = (message.headers?.get("KV-Operation") ?? "") !== "";
  const value = isGone ? null : schema.safeParse(parsed(message)).data;
  if (value === null || value === undefined) known.delete(id);
  else known.set(id, { value, at: message.time.getTime() });
}

function forgetBefore(known: Map<string, Written<unknown>>, time: number): void {
  for (const [id, { at }] of known) if (at < time) known.delete(id);
}

function parsed(message: JsMsg): unknown {
  try {
    return message.json();
  } catch {
    return null;
  }
}
