// What happens to a job, in order. Kept for those who look; nothing is decided by it.
import { DeliverPolicy, type JetStreamClient } from "@nats-io/jetstream";
import { FleetEvent } from "../schema/fleet.js";
import { EVENTS, eventSubject } from "./names.js";

/** What a message may hold; progress is for people. */
const MOST_TEXT = 2_000;

export class Events {
  readonly #js: JetStreamClient;

  constructor(js: JetStreamClient) {
    this.#js = js;
  }

  /** Never throws and is not waited for: an event that does not arrive changes nothing. */
  tell(event: FleetEvent): void {
    const message = event.message?.slice(0, MOST_TEXT);
    const text = JSON.stringify({ ...event, ...(message === undefined ? {} : { message }) });
    this.#js.publish(eventSubject(event.job), text, { timeout: 10_000 }).catch(() => {});
  }

  /** What was told so far, and with `follow` what comes, until the signal says so. */
  async *of(job: string, { follow, signal }: { readonly follow: boolean; readonly signal: AbortSignal }) {
    const consumer = await this.#js.consumers.get(EVENTS, {
      filter_subjects: eventSubject(job),
      deliver_policy: DeliverPolicy.All,
    });
    // As many as there are now: what the server counts as left to tell never comes to nothing when one made room meanwhile.
    let left = follow ? Number.POSITIVE_INFINITY : (await consumer.info()).num_pending;
    if (left === 0) return;
    const messages = await consumer.consume();
    const stop = () => messages.stop();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      for await (const message of messages) {
        const event = FleetEvent.safeParse(message.json());
        if (event.success) yield event.data;
        left -= 1;
        if (left <= 0 || (!follow && message.info.pending === 0)) return;
      }
    } finally {
      signal.removeEventListener("abort", stop);
      messages.stop();
    }
  }
}
