// The runs of a project, and the one a person means.
import { NutError } from "../../errors.js";
import { type RunFolder, runIds } from "./folder.js";
import { readJournal } from "./journal.js";
import { RunReader, type RunStatus } from "./run-reader.js";

export interface RunSummary {
  readonly id: string;
  readonly title: string;
  /** The program at work, or the last that was: another may have taken over. */
  readonly driver: string;
  readonly status: RunStatus;
  readonly detail: string;
  readonly created_at: string;
  readonly tasks: { readonly total: number; readonly completed: number };
  readonly delivery?: string;
}

/** Every run of a project, oldest first. A run that cannot be read is listed as such, never left out. */
export function listRuns(runs: string): RunSummary[] {
  return runIds(runs).map((id) => {
    const { options, state, status, detail } = new RunReader(runs, id).read();
    const tasks = [...state.tasks.values()];
    return {
      id,
      title: options?.title ?? "",
      driver: state.switched?.to ?? options?.driver ?? "",
      status,
      detail,
      created_at: options?.created_at ?? "",
      tasks: { total: tasks.length, completed: tasks.filter((task) => task.status === "completed").length },
      ...(state.delivered === null ? {} : { delivery: state.delivered.path }),
    };
  });
}

/** The run a person means: the id, a unique beginning of it, or the latest one that is not finished. */
export function findRun(runs: string, wanted: string | undefined): string {
  if (wanted !== undefined) {
    const matches = runIds(runs).filter((id) => id === wanted || id.startsWith(wanted));
    if (matches.length === 1) return matches[0]!;
    throw new NutError(
      "RUN_NOT_FOUND",
      matches.length === 0 ? `there is no run "${wanted}" here` : `"${wanted}" fits ${matches.length} runs`,
      { hint: "nexus runs", data: { wanted, matches } },
    );
  }
  const open = listRuns(runs).findLast(({ status }) => status === "paused" || status === "interrupted");
  if (open !== undefined) return open.id;
  throw new NutError("RUN_NOT_FOUND", "no run is waiting to go on here", { hint: "nexus runs" });
}

/** Whether a run got as far as knowing what to do. */
export function hasPlan({ journal }: Pick<RunFolder, "journal">): boolean {
  return readJournal(journal).some(({ type }) => type === "planned");
}
