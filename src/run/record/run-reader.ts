// A run as its folder tells it, for those who only look: what it was started with, how far it is, what became of it.
import { fromSystemError, NutError } from "../../errors.js";
import type { JournalRecord } from "../../schema/journal.js";
import type { RunOptions } from "../../schema/run.js";
import { assertRecorded } from "./damaged-file.js";
import { type RunFolder, runFolder } from "./folder.js";
import { JournalFollower } from "./journal.js";
import { isRunBusy } from "./lock.js";
import { readOptions } from "./options.js";
import { emptyState, type RunState } from "./run-state.js";

export type RunStatus = "running" | "paused" | "cancelled" | "interrupted" | "delivered" | "damaged";

export interface RunReading {
  readonly id: string;
  /** null when the run is damaged. */
  readonly options: RunOptions | null;
  readonly state: RunState;
  readonly status: RunStatus;
  /** Why it is paused or damaged, or what was delivered; empty when there is nothing to add. */
  readonly detail: string;
}

/** Reads a run again and again; each time only what its journal has grown by. */
export class RunReader {
  readonly #folder: RunFolder;
  readonly #journal: JournalFollower;

  /** `hear` is told every record of the journal as it is read; null when it is read anew. */
  constructor(runs: string, id: string, hear?: (record: JournalRecord | null) => void) {
    this.#folder = runFolder(runs, id, false);
    this.#journal = new JournalFollower(this.#folder.journal, hear);
  }

  get folder(): RunFolder {
    return this.#folder;
  }

  get isBusy(): boolean {
    return isRunBusy(this.#folder.lock);
  }

  /** A run that cannot be read is damaged and says why; it is never left out. */
  read(): RunReading {
    const { id } = this.#folder;
    try {
      const options = readOptions(this.#folder);
      const state = this.#journal.look();
      assertRecorded(this.#folder, state.createdAt === "");
      return { id, options, state, ...statusOf(state, this.isBusy) };
    } catch (error) {
      const known = error instanceof NutError ? error : fromSystemError(error);
      if (known === null) throw error;
      return { id, options: null, state: emptyState(), status: "damaged", detail: known.message };
    }
  }
}

function statusOf(state: RunState, isBusy: boolean): Pick<RunReading, "status" | "detail"> {
  if (isBusy) return { status: "running", detail: state.waiting?.message ?? "" };
  if (state.closed) return { status: "delivered", detail: state.delivered?.status ?? "" };
  if (state.paused?.reason === "cancelled") return { status: "cancelled", detail: state.paused.message };
  if (state.paused !== null) return { status: "paused", detail: state.paused.message };
  return { status: "interrupted", detail: "it was killed" };
}
