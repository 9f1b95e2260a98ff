// `nexus run` of several requests: each is a run of its own, in its own folder.
import { lstatSync, mkdirSync } from "node:fs";
import { basename, resolve } from "node:path";
import { z } from "zod";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { isPlanWord } from "../../../run/index.js";
import { type Beside, prepareRun, type ReadyRun, type RunAsked } from "./prepare-run.js";
import { RunResult } from "./result.js";
import { type Ended, type Piece, sideBySide } from "./side-by-side.js";

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
  const ends = await sideBySide(pieces(all), { atOnce, context });
  return summary(all.map((ready, at) => rowOf(ready, ends[at]!)));
}

const rowOf = (ready: ReadyRun, { status, result, error }: Ended): RunsRow => ({
  ...whoIs(ready),
  status,
  ...(result === undefined ? {} : { result }),
  ...(error === undefined ? {} : { error }),
});

function pieces(all: readonly ReadyRun[]): Piece[] {
  const names = shortNames(all.map(({ request }) => request));
  return all.map(({ request, options, start }, at) => ({
    what: request,
    name: names[at]!,
    fields: { request },
    run: () => options.id,
    start,
    again: `nexus run ${shellWord(request)}`,
  }));
}

/** File names, as far as they tell the requests apart. */
function shortNames(requests: readonly string[]): string[] {
  const names = requests.map((request) => basename(request).replace(/\.nut$/, ""));
  return requests.map((request, at) => (names.filter((one) => one === names[at]).length > 1 ? request : names[at]!));
}

/** What makes sense for one request alone is refused for several. */
function assertForSeveral(requests: readonly string[], flags: Omit<RunAsked, "request">, { cwd }: Context): void {
  const paths = requests.map((request) => resolve(cwd, request));
  const twice = requests.find((_, at) => paths.indexOf(paths[at]!) !== at);
  if (twice !== undefined) {
    throw new NutError("USAGE", `${twice} is named twice`, {
      hint: `to have it done twice: nexus race ${shellWord(twice)} --with codex --trials 2`,
    });
  }
  const { applyToBranch, answer, oracle, plan, output } = flags;
  const single = [
    ["--apply-to-branch", applyToBranch],
    ["--answer", answer],
    ["--oracle", oracle],
    ["--plan <file>", plan !== undefined && isPlanWord(plan) ? undefined : plan],
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
    hint: `nexus run ${requests.map(shellWord).join(" ")} -o '<folder>'`,
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
