// The queue: tickets that name a job. A ticket that is given out and not acknowledged is given out again after a lease.
import { JetStreamApiError, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import { type Msg, type NatsConnection, nanos } from "@nats-io/transport-node";
import { type Job, Ticket } from "../schema/fleet.js";
import { ensureConsumer } from "./layout.js";
import { consumerName, servable, WAKE, WORK, WORK_SUBJECTS, workSubject } from "./names.js";

/** One ticket, and what its holder says of it. */
export class Handed {
  readonly ticket: Ticket;
  readonly seq: number;
  readonly #nc: NatsConnection;
  readonly #reply: string;

  constructor(nc: NatsConnection, ticket: Ticket, reply: string) {
    this.#nc = nc;
    this.ticket = ticket;
    this.#reply = reply;
    this.seq = sequenceIn(reply);
  }

  /** The holder is alive and the run moves. */
  working(): void {
    this.#say("+WPI");
  }

  /** Goes out of the queue. The server's answer is waited for; without one it comes again, and is found over then. */
  async done(): Promise<void> {
    await this.#nc.request(this.#reply, "+ACK", { timeout: 5_000 }).catch(() => {});
  }

  /** To be given out again, now or after a while. */
  back(delayMs = 0): void {
    this.#say(delayMs === 0 ? "-NAK" : `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}`);
  }

  #say(word: string): void {
    try {
      this.#nc.publish(this.#reply, word);
    } catch {
      // A connection that is gone says nothing; the lease runs out by itself.
    }
  }
}

/** `$JS.ACK.<stream>.<consumer>.<delivered>.<seq>.…`, on newer servers with two words more in front. */
function sequenceIn(reply: string): number {
  const words = reply.split(".");
  return Number(words[words.length >= 11 ? 7 : 5]);
}

type Queued = Pick<Job, "id" | "turn" | "priority" | "labels">;

export class Queue {
  readonly #nc: NatsConnection;
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  /** Subjects whose consumer is there. */
  readonly #consumers = new Set<string>();

  constructor(nc: NatsConnection, js: JetStreamClient, jsm: JetStreamManager) {
    this.#nc = nc;
    this.#js = js;
    this.#jsm = jsm;
  }

  /** The same turn of the same job is one message, however often it is put in within two minutes. */
  put(job: Queued): Promise<void> {
    return this.#put(job, { msgID: `${job.id}.${job.turn}` });
  }

  /** Put in once more because it is gone: a server remembers for two minutes what it has lost since. A ticket too many is found over. */
  putAgain(job: Queued): Promise<void> {
    return this.#put(job, {});
  }

  async #put({ id, turn, priority, labels }: Queued, options: { readonly msgID?: string }): Promise<void> {
    const ticket: Ticket = { job: id, turn };
    await this.#js.publish(workSubject(priority, labels), JSON.stringify(ticket), options);
    this.#nc.publish(WAKE, JSON.stringify({ job: id }));
  }

  /** Told to workers at once; who does not hear it looks by itself. */
  wake(word: { readonly cancelled: string }): void {
    this.#nc.publish(WAKE, JSON.stringify(word));
  }

  /** Subjects with anything queued or given out, and how much. */
  async subjects(): Promise<ReadonlyMap<string, number>> {
    const { state } = await this.#jsm.streams.info(WORK, { subjects_filter: WORK_SUBJECTS });
    return new Map(Object.entries(state.subjects ?? {}));
  }

  /** Whether nothing is queued or given out that a worker with these labels could ever take. */
  async nothingFor(own: ReadonlySet<string>): Promise<boolean> {
    return servable([...(await this.subjects()).keys()], own).length === 0;
  }

  /** The next ticket a worker with these labels may have; null when there is none just now. */
  async next(own: ReadonlySet<string>, leaseMs: number): Promise<Handed | null> {
    const waiting = servable([...(await this.subjects()).keys()], own);
    for (const { subject } of waiting) {
      const handed = await this.#pull(subject, leaseMs);
      if (handed !== null) return handed;
    }
    return null;
  }

  async #pull(subject: string, leaseMs: number): Promise<Handed | null> {
    // Asked for a consumer that is not there, a server says nothing at all.
    if (!this.#consumers.has(subject)) await ensureConsumer(this.#jsm, subject, leaseMs);
    this.#consumers.add(subject);
    const from = `$JS.API.CONSUMER.MSG.NEXT.${WORK}.${consumerName(subject)}`;
    let answer: Msg;
    try {
      // Answers bear the subject they were queued under, which the shared inbox would not find its way by.
      const asked = JSON.stringify({ batch: 1, no_wait: true });
      answer = await this.#nc.request(from, asked, { noMux: true, timeout: 3_000 });
    } catch (error) {
      this.#consumers.delete(subject);
      throw error;
    }
    if (answer.headers !== undefined && answer.headers.code !== 0) return null;
    const ticket = Ticket.safeParse(parseJson(answer.string()));
    if (ticket.success) return new Handed(this.#nc, ticket.data, answer.reply ?? "");
    // What is no ticket would be given out for ever.
    if (answer.reply !== undefined) this.#nc.publish(answer.reply, "+TERM");
    return null;
  }

  /** Whether a message is still in the queue, given out or not. */
  async holds(seq: number): Promise<boolean> {
    try {
      return (await this.#jsm.streams.getMessage(WORK, { seq })) !== null;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === 10037) return false;
      throw error;
    }
  }

  /** Every ticket in the queue, given out or not, one after another. */
  async *tickets(): AsyncGenerator<Ticket> {
    for (let seq = 1; ; ) {
      const message = await this.#jsm.streams
        .getMessage(WORK, { seq, next_by_subj: WORK_SUBJECTS } as never)
        .catch((error: Error & { code?: number }) => {
          if (error.code === 10037) return null;
          throw error;
        });
      if (message === null) return;
      const ticket = Ticket.safeParse(parseJson(message.string()));
      if (ticket.success) yield ticket.data;
      seq = message.seq + 1;
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
