// Several runs at once. They share nothing but what is one of a kind: the screen, the person who is asked, and their wish to
// stop.
import { fromSystemError, NutError } from "../../../errors.js";
import type { Context, Progress, Prompter } from "../../../operation.js";
import type { RunResult } from "./result.js";

/** One run to come. */
export interface Piece {
  /** As it is told to the person who stopped it. */
  readonly what: string;
  /** What its lines begin with. */
  readonly name: string;
  /** What its events carry. */
  readonly fields: Readonly<Record<string, string | number>>;
  /** Its run, once there is one. */
  run(): string | undefined;
  start(context: Context): Promise<RunResult>;
  /** What begins it, when it was stopped before it had begun. */
  readonly again: string;
}

export interface Ended {
  readonly status: "completed" | "partial" | "blocked" | "failed" | "paused" | "refused";
  readonly result?: RunResult;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
}

interface Together {
  readonly atOnce: number;
  readonly context: Context;
  /** One line that goes on with all of them, where there is one. */
  readonly goOn?: string;
}

/** How each ended, in their order. Throws INTERRUPTED once all have stopped, and a bug once the others are done. */
export async function sideBySide(all: readonly Piece[], { atOnce, context, goOn }: Together): Promise<Ended[]> {
  const ends = new Map<Piece, Ended>();
  const bugs: unknown[] = [];
  const queue = [...all];
  const ask = inTurn(context.ask);
  // One listener on the person's signal, however many there are.
  const stop = new AbortController();
  const halt = () => {
    queue.length = 0;
    stop.abort(context.signal.reason);
  };
  if (context.signal.aborted) halt();
  else context.signal.addEventListener("abort", halt, { once: true });
  const tell = (event: Progress) => {
    context.progress(event);
    if (event.message === undefined) return;
    const message = `${all.length - queue.length - ends.size} at work, ${queue.length} waiting; done:`;
    context.progress({ type: "runs", live: true, message, done: ends.size, total: all.length });
  };
  const worker = async () => {
    for (let piece = queue.shift(); piece !== undefined; piece = queue.shift()) {
      const say = speaker(piece, tell);
      const end = await endOf(piece, { ...context, ask: ask(piece.name), signal: stop.signal, progress: say }, bugs);
      ends.set(piece, end);
      if (end.status !== "paused")
        say({ type: "run_ended", status: end.status, message: end.error?.message ?? end.status });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker));
  context.signal.removeEventListener("abort", halt);
  if (bugs.length > 0) throw bugs[0];
  if (context.signal.aborted) throw stopped(all, ends, { context, goOn });
  return all.map((piece) => ends.get(piece)!);
}

/** Every event says which run it is of; what people read begins with its name. */
function speaker({ name, fields, run }: Piece, tell: (event: Progress) => void): (event: Progress) => void {
  return (event) => {
    const id = run();
    const message = event.message === undefined ? {} : { message: `${name}: ${event.message}` };
    tell({ ...event, ...fields, ...(id === undefined ? {} : { run: id }), ...message });
  };
}

/** What is refused on the way ends that one alone; a bug is kept for when the others are done. */
async function endOf(piece: Piece, context: Context, bugs: unknown[]): Promise<Ended> {
  try {
    const result = await piece.start(context);
    return { status: result.delivery?.result.status ?? "paused", result };
  } catch (error) {
    const refusal =
      error instanceof NutError ? error : context.signal.aborted ? interruption(piece) : fromSystemError(error);
    if (refusal === null) bugs.push(error);
    const { code, message, hint } = refusal ?? { code: "BUG", message: String(error), hint: "nexus runs" };
    return { status: code === "INTERRUPTED" ? "paused" : "refused", error: { code, message, hint } };
  }
}

/** Stopped before it could write anything down that it could go on from. */
const interruption = ({ again }: Piece) =>
  new NutError("INTERRUPTED", "it was stopped before it began", { hint: again });

/** One question at a time, and it says whose it is. */
function inTurn(ask: Prompter | null): (name: string) => Prompter | null {
  let last: Promise<unknown> = Promise.resolve();
  const next = <T>(question: () => Promise<T>): Promise<T> => {
    const answer = last.then(question);
    last = answer.catch(() => {});
    return answer;
  };
  return (name) =>
    ask === null
      ? null
      : {
          text: (question, options) => next(() => ask.text(`${name}: ${question}`, options)),
          confirm: (question, options) => next(() => ask.confirm(`${name}: ${question}`, options)),
          secret: (question) => next(() => ask.secret(`${name}: ${question}`)),
        };
}

/** Whoever interrupts reads how each goes on, those that never began included. */
function stopped(
  all: readonly Piece[],
  ends: ReadonlyMap<Piece, Ended>,
  { context, goOn }: Pick<Together, "context"> & { readonly goOn: string | undefined },
): NutError {
  const open = all.flatMap((piece) => {
    const end = ends.get(piece);
    if (end !== undefined && end.status !== "paused") return [];
    const begun = end !== undefined && piece.run() !== undefined;
    const how = (begun ? (end.error?.hint ?? end.result?.paused?.hint) : undefined) ?? piece.again;
    return [{ ...piece.fields, what: piece.what, begun, how }];
  });
  const done = `stopped; ${all.length - open.length} of ${all.length} were done. Go on with:${goOn === undefined ? "" : ` ${goOn}`}`;
  context.progress({ type: "runs_stopped", open, message: done });
  for (const { what, begun, how } of goOn === undefined ? open : []) {
    context.progress({ type: "run_open", what, message: `  ${what}${begun ? "" : " (not begun)"}: ${how}` });
  }
  return new NutError("INTERRUPTED", "the runs were interrupted", { hint: goOn ?? open[0]?.how ?? "nexus runs" });
}
