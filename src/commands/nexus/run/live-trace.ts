// Spans of a run while it is at work, for a collector the person's environment names. A run never waits for a collector and
// never fails because of one: what it does not take is said once.
import type { Context } from "../../../operation.js";
import type { RunFolder } from "../../../run/index.js";
import type { RunOptions } from "../../../schema/run.js";
import { type Collector, collectorOf, otlp, sendSpans, spansOf } from "../../../traces/index.js";
import { VERSION } from "../../../version.js";
import { traceOf } from "./trace-of.js";

export interface LiveTrace {
  /** The same context, listened to. */
  readonly context: Context;
  /** Sends what is left. Never throws. */
  close(): Promise<void>;
}

/** Throws for an address that is none, before anything is made. */
export function liveTrace(folder: RunFolder, options: RunOptions, context: Context): LiveTrace {
  const collector = collectorOf(context.env);
  if (collector === null) return { context, close: async () => {} };
  const sender = new Sender(folder, options, collector, context);
  return {
    context: {
      ...context,
      progress(event) {
        context.progress(event);
        if (event.type === "agent_ended") sender.look();
      },
    },
    close: () => sender.close(),
  };
}

class Sender {
  readonly #folder: RunFolder;
  readonly #options: RunOptions;
  readonly #collector: Collector;
  readonly #context: Context;
  readonly #sent = new Set<string>();
  #last: Promise<void> = Promise.resolve();
  #isTold = false;

  constructor(folder: RunFolder, options: RunOptions, collector: Collector, context: Context) {
    this.#folder = folder;
    this.#options = options;
    this.#collector = collector;
    this.#context = context;
  }

  /** One after the other: a collector sees parts in their order. */
  look(): void {
    this.#last = this.#last.then(() => this.#send());
  }

  async close(): Promise<void> {
    this.look();
    await this.#last;
  }

  async #send(): Promise<void> {
    try {
      const input = traceOf(
        this.#folder,
        this.#options,
        this.#context.env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT === "true",
      );
      const spans = spansOf(input).filter(({ id }) => !this.#sent.has(id));
      if (spans.length === 0) return;
      await sendSpans(otlp(spans, input, VERSION), this.#collector);
      for (const { id } of spans) this.#sent.add(id);
    } catch (error) {
      if (this.#isTold) return;
      this.#isTold = true;
      this.#context.progress({ type: "warning", message: error instanceof Error ? error.message : String(error) });
    }
  }
}
