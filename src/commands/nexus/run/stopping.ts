// What `pause` and `cancel` share: the run a person means, and waiting until it has stopped.
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { NutError } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { askToStop, listRuns, RunReader, type RunStatus, runsFolder, type StopKind } from "../../../run/index.js";
import { openProject } from "../../../state/index.js";

export const Stopped = z.object({
  run: z.string(),
  status: z.enum(["running", "paused", "cancelled", "interrupted", "delivered", "damaged"]),
  message: z.string().describe("why it stands where it stands"),
});
export type Stopped = z.output<typeof Stopped>;

/** Agents are ended, and what they left so far is kept. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 100;

export const runsHere = ({ cwd, env }: Pick<Context, "cwd" | "env">) => runsFolder(openProject(cwd, { env }).root);

/** The one run that is at work; its name is needed when there are several. */
export function runAtWork(runs: string, verb: string): string {
  const busy = listRuns(runs).filter(({ status }) => status === "running");
  if (busy.length === 1) return busy[0]!.id;
  const what = busy.length === 0 ? "no run is at work here" : `${busy.length} runs are at work here: name one`;
  throw new NutError("RUN_IDLE", what, { hint: busy.length === 0 ? "nexus runs" : `nexus ${verb} ${busy[0]!.id}` });
}

/** Asks, and comes back when nobody works on the run any more. */
export async function stopRun(runs: string, id: string, kind: StopKind, context: Context): Promise<Stopped> {
  const reader = new RunReader(runs, id);
  askToStop(reader.folder, kind);
  context.progress({ type: "stopping", run: id, message: `waiting for run ${id} to stop` });
  const until = performance.now() + PATIENCE_MS;
  while (reader.isBusy && performance.now() < until) await sleep(LOOK_MS, undefined, { signal: context.signal });
  if (reader.isBusy) {
    throw new NutError("RUN_BUSY", `run ${id} was asked to stop and has not yet`, { hint: "nexus runs" });
  }
  return standing(reader, id);
}

export function standing(reader: RunReader, id: string): Stopped {
  const { status, detail }: { status: RunStatus; detail: string } = reader.read();
  return { run: id, status, message: detail };
}
