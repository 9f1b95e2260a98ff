// Telling somebody that a run asks, waits or has ended. Only what a lock screen may show goes out: which run, what became of
// it, what to type. A run never waits long for a receiver and never fails because of one.
// The addresses are the project's, which may be a stranger's; so a token is bound to its host by the person's environment.
import type { Context, Progress } from "../../../operation.js";
import type { RunFolder } from "../../../run/index.js";
import type { Notice, NotifyTarget } from "../../../schema/catalog.js";
import type { RunOptions } from "../../../schema/run.js";

const PATIENCE_MS = 10_000;
const LONGEST = 500;

export interface Notifier {
  hear(event: Progress): void;
  /** The run has ended, with this outcome. */
  ended(outcome: string, message: string): void;
  /** Comes back when everybody was told, or nobody will be. Never throws. */
  close(): Promise<void>;
}

export function notifier(
  targets: readonly NotifyTarget[],
  { id, title, yes }: Pick<RunFolder, "id"> & Pick<RunOptions, "title" | "yes">,
  context: Context,
): Notifier {
  const under: Promise<void>[] = [];
  const tell = (
    notice: Notice,
    facts: { readonly message: string; readonly hint?: string; readonly outcome?: string },
  ) => {
    for (const target of targets.filter(({ on }) => on.includes(notice))) {
      const words = { ...facts, message: facts.message.slice(0, LONGEST) };
      under.push(post(target, { type: notice, run: id, title, at: context.now().toISOString(), ...words }, context));
    }
  };
  return {
    hear(event) {
      const { type, message = "" } = event;
      // With --yes nobody is waited for.
      if (type === "asked" && !yes)
        tell("question", { message: textOf(event.question) ?? message, hint: `nexus resume ${id}` });
      // Whoever interrupts a run knows, and a question was told.
      if (type === "paused" && event.reason !== "interrupted" && event.reason !== "question") {
        tell("pause", {
          message: `${textOf(event.reason) ?? "paused"}`,
          hint: textOf(event.hint) ?? `nexus resume ${id}`,
        });
      }
    },
    ended: (outcome, message) => tell("end", { outcome, message }),
    close: async () => void (await Promise.all(under)),
  };
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

interface Told {
  readonly type: Notice;
  readonly run: string;
  readonly title: string;
  readonly at: string;
  readonly message: string;
  readonly outcome?: string;
  readonly hint?: string;
}

async function post({ url, format }: NotifyTarget, told: Told, context: Context): Promise<void> {
  const { host } = new URL(url);
  const token = tokenFor(host, context.env.NEXUS_NOTIFY_TOKENS);
  const auth: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const body =
    format === "json"
      ? { headers: { ...auth, "content-type": "application/json" }, body: JSON.stringify(told) }
      : {
          headers: { ...auth, "content-type": "text/plain; charset=utf-8", title: `nexus: ${told.type}` },
          body: asText(told),
        };
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch(url, { method: "POST", redirect: "error", signal, ...body });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  } catch (error) {
    // The path of an address may be all that protects a topic.
    const why = error instanceof Error && /^it answered/.test(error.message) ? error.message : "it cannot be reached";
    context.progress({ type: "warning", message: `${host} was not told of the run's ${told.type}: ${why}` });
  }
}

const asText = ({ title, outcome, message, hint }: Told): string =>
  [outcome === undefined ? title : `${title}: ${outcome}`, message, ...(hint === undefined ? [] : [hint])].join("\n");

/** `ntfy.example.org=tk_…,hooks.example.org:8443=…` */
function tokenFor(host: string, tokens = ""): string | undefined {
  const pair = tokens.split(",").find((each) => each.trim().startsWith(`${host}=`));
  return pair?.trim().slice(host.length + 1);
}
