// Several requests at once: each is a run of its own, in its own folder; here they share agents, questions, the screen and
// the person's wish to stop.
import { lstatSync, mkdirSync } from "node:fs";
import { basename, resolve } from "node:path";
import { z } from "zod";
import { fromSystemError, NutError, shellWord } from "../../../errors.js";
import type { Context, Progress, Prompter } from "../../../operation.js";
import { type Beside, prepareRun, type ReadyRun, type RunAsked } from "./prepare-run.js";
import { RunResult } from "./result.js";

const Row = z.object({
  request: z.string().describe("as it was named"),
  title: z.string(),
  run: z.string(),
  status: z.enum(["completed", "partial", "blocked", "failed", "paused", "planned", "refused"]),
  result: RunResult.optional().describe("what nexus run of this request alone answers"),
  error: z.object({ code: z.string(), message: z.string(), hint: z.string() }).optional(),
});
export type RunsRow = z.output<typeof Row>;

export const RunsResult = z.object({
  type: z.literal("result"),
  completed: z.int(),
  runs: z.array(Row),
});
export type RunsResult = z.output<typeof RunsResult>;

/** As many agents as one request has by default. */
const JOBS = 4;

/** Throws before anything is made when one of them cannot be run, and INTERRUPTED after all have stopped. */
export async function runSeveral(
  requests: readonly string[],
  flags: Omit<RunAsked, "request">,
  context: Context,
): Promise<RunsResult> {
  assertForSeveral(requests, flags, context);
  const { output, ...shared } = flags;
  const jobs = flags.jobs ?? JOBS;
  const atOnce = Math.min(jobs, requests.length);
  const folder = output === undefined ? undefined : resolve(context.cwd, output);
  const beside: Beside = { ids: new Set(), outputs: new Set(), ...(folder === undefined ? {} : { folder }) };
  const all: ReadyRun[] = [];
  for (const request of requests) {
    all.push(await prepared({ ...shared, request, jobs: Math.floor(jobs / atOnce) }, beside, context));
  }
  if (flags.dryRun) return summary(await Promise.all(all.map(planned)));
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  return summary(await atWork(all, atOnce, context));
}

/** What makes sense for one request alone is refused for several. */
function assertForSeveral(requests: readonly string[], flags: Omit<RunAsked, "request">, { cwd }: Context): void {
  const paths = requests.map((request) => resolve(cwd, request));
  const twice = requests.find((_, at) => paths.indexOf(paths[at]!) !== at);
  if (twice !== undefined) {
    throw new NutError("USAGE", `${twice} is named twice`, {
      hint: `nexus run ${[...new Set(requests)].map(shellWord).join(" ")}`,
    });
  }
  const { applyToBranch, answer, plan, output } = flags;
  const single = [
    ["--apply-to-branch", applyToBranch],
    ["--answer", answer],
    ["--plan <file>", plan === "lead" || plan === "default" ? undefined : plan],
  ].find(([, value]) => value !== undefined);
  if (single !== undefined) {
    throw new NutError("USAGE", `${single[0]} is about one request, and ${requests.length} are named`, {
      hint: `nexus run ${shellWord(requests[0]!)} ${single[0]} …`,
    });
  }
  if (output === undefined) return;
  const there = lstatSync(resolve(cwd, output), { throwIfNoEntry: false });
  if (there === undefined || there.isDirectory()) return;
  throw new NutError("FILE_EXISTS", `${output} is no folder, and several deliveries go into one`, {
    hint: "nexus run a.nut b.nut -o deliveries",
    data: { path: resolve(cwd, output) },
  });
}

/** A refusal says which request it is about. */
async function prepared(asked: RunAsked, beside: Beside, context: Context): Promise<ReadyRun> {
  try {
    return await prepareRun(asked, context, beside);
  } catch (error) {
    if (!(error instanceof NutError) || error.message.includes(asked.request)) throw error;
    const { code, message, hint, data } = error;
    const words = `${asked.request}: ${message}`;
    throw new NutError(code, words, { hint, data, cause: error });
  }
}

async function planned(ready: ReadyRun): Promise<RunsRow> {
  const result = await ready.preview();
  return { ...whoIs(ready), status: "planned", result };
}

const whoIs = ({ request, title, options }: ReadyRun) => ({ request, title, run: options.id });

const summary = (runs: RunsRow[]): RunsResult => ({
  type: "result",
  completed: runs.filter(({ status }) => status === "completed").length,
  runs,
});

async function atWork(all: readonly ReadyRun[], atOnce: number, context: Context): Promise<RunsRow[]> {
  const rows = new Map<ReadyRun, RunsRow>();
  const bugs: unknown[] = [];
  const names = shortNames(all.map(({ request }) => request));
  const queue = [...all];
  const ask = inTurn(context.ask);
  // One listener on the person's signal, however many requests there are.
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
    const working = all.length - queue.length - rows.size;
    const message = `${working} at work, ${queue.length} waiting; done:`;
    context.progress({ type: "runs", live: true, message, done: rows.size, total: all.length });
  };
  const worker = async () => {
    for (let ready = queue.shift(); ready !== undefined; ready = queue.shift()) {
      const name = names.get(ready.request)!;
      const say = (event: Progress) => tell(named(event, ready, name));
      const own: Context = { ...context, ask: ask(name), signal: stop.signal, progress: say };
      const row = await rowOf(ready, own, bugs);
      rows.set(ready, row);
      if (row.status !== "paused")
        say({ type: "run_ended", status: row.status, message: row.error?.message ?? row.status });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  context.signal.removeEventListener("abort", halt);
  if (bugs.length > 0) throw bugs[0];
  if (context.signal.aborted) throw stopped(all, rows, context);
  return all.map((ready) => rows.get(ready)!);
}

/** How one ended. What is refused on the way ends that one alone; a bug is kept for when the others are done. */
async function rowOf(ready: ReadyRun, context: Context, bugs: unknown[]): Promise<RunsRow> {
  try {
    const result = await ready.start(context);
    return { ...whoIs(ready), status: result.delivery?.result.status ?? "paused", result };
  } catch (error) {
    const refusal = error instanceof NutError ? error : fromSystemError(error);
    if (refusal === null) bugs.push(error);
    const { code, message, hint } = refusal ?? { code: "BUG", message: String(error), hint: "nexus runs" };
    const status = code === "INTERRUPTED" ? "paused" : "refused";
    return { ...whoIs(ready), status, error: { code, message, hint } };
  }
}

/** Every event says which run it is of; what people read begins with its name. */
function named(event: Progress, { request, options }: ReadyRun, name: string): Progress {
  const message = event.message === undefined ? {} : { message: `${name}: ${event.message}` };
  return { ...event, request, run: options.id, ...message };
}

/** File names, as far as they tell the requests apart. */
function shortNames(requests: readonly string[]): ReadonlyMap<string, string> {
  const short = (request: string) => basename(request).replace(/\.nut$/, "");
  const names = requests.map(short);
  return new Map(
    requests.map((request, at) => [
      request,
      names.filter((one) => one === names[at]).length > 1 ? request : names[at]!,
    ]),
  );
}

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
function stopped(all: readonly ReadyRun[], rows: ReadonlyMap<ReadyRun, RunsRow>, context: Context): NutError {
  const open = all.flatMap((ready) => {
    const row = rows.get(ready);
    if (row !== undefined && row.status !== "paused") return [];
    const how = row?.error?.hint ?? row?.result?.paused?.hint ?? `nexus run ${shellWord(ready.request)}`;
    return [{ request: ready.request, ...(row === undefined ? {} : { run: row.run }), how }];
  });
  const done = `stopped; ${all.length - open.length} of ${all.length} were done. Go on with:`;
  context.progress({ type: "runs_stopped", open, message: done });
  for (const { request, run, how } of open) {
    context.progress({
      type: "run_open",
      request,
      message: `  ${request}${run === undefined ? " (not begun)" : ""}: ${how}`,
    });
  }
  return new NutError("INTERRUPTED", "the runs were interrupted", { hint: open[0]?.how ?? "nexus runs" });
}
