import type { RunOptions } from "../../schema/run.js";
import type { RunFolder } from "./folder.js";
import { JournalFollower } from "./journal.js";

/** What runs the agents of a run, in the words it was asked for. */
export interface CurrentProgram {
  readonly driver: string;
  readonly command?: string;
  readonly model?: string;
}

/** The program that works on a run now: the one it was started with, or the last that took over. Throws RUN_DAMAGED or RUN_NEWER. */
export function currentProgram({ journal }: Pick<RunFolder, "journal">, options: RunOptions): CurrentProgram {
  const { switched } = new JournalFollower(journal).look();
  const { driver, command, model } = switched === null ? options : { ...switched, driver: switched.to };
  return { driver, ...(command === undefined ? {} : { command }), ...(model === undefined ? {} : { model }) };
}
