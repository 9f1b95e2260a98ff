// How a check is run and how its run is read. A runner knows one program: which command makes it write a machine's report,
// and what that report says of each test. It starts nothing itself and touches no disk: the engine runs what it prepares.
import type { ChildResult, Environment } from "../../process/index.js";
import type { Check, Outcome } from "../model.js";
import type { Declared } from "./outcomes.js";

/** The tree under test as it will be in the room. Paths are from the tree's root, with `/`. */
export interface TreeView {
  exists(path: string): boolean;
  /** null when it is no file, or too large to be a text somebody wrote. */
  read(path: string): string | null;
  /** Names in a folder, those of folders with a `/` at their end; empty when it is no folder. `""` is the root. */
  list(folder: string): readonly string[];
  /** Checkers outside the folders of tests that the request's own checks name. */
  readonly checkers?: readonly string[];
  /** Whether a file is none of the work's: a test, a setting, a checker. It may not change while a check runs. */
  readonly isGuarded?: (path: string) => boolean;
}

/** The room as a runner sees it. */
export interface RunnerRoom {
  /** Absolute path of the tree inside the room. */
  readonly tree: string;
  /** A folder inside the room, outside the tree, that can be written to and is read back after the run. */
  readonly reports: string;
  findProgram(name: string): string | null;
  /** Whether a program ends with 0: a shim may be on PATH with nothing behind it. */
  answers(command: string, args: readonly string[]): Promise<boolean>;
}

/** A command for the engine to run in the room, from the tree's root unless `cwd` says otherwise. */
export interface PreparedRun {
  readonly command: string;
  readonly args: readonly string[];
  /** From the tree's root. */
  readonly cwd?: string;
  readonly env?: Environment;
  readonly stdin?: { readonly text: string };
  /** How much of standard output is to be kept, when a report travels there. */
  readonly maxOutputBytes?: number;
  /** Absolute paths inside the room that are read back after the run; a path that ends with `/` stands for its `.xml` files. */
  readonly reportFiles: readonly string[];
  readonly note?: string;
  /** The code under test shares a process with what reports. */
  readonly forgeable: boolean;
  readonly reading: Reading;
}

export type ReadRun = (
  check: Check,
  prepared: PreparedRun,
  result: ChildResult,
  reports: ReadonlyMap<string, Uint8Array>,
) => Outcome;

/** What the reader of a run has to know again. */
export interface Reading {
  /** The room's tree, so that ids are paths from its root. */
  readonly tree: string;
  readonly read: ReadRun;
  /** Where the runner was started, from the tree's root. */
  readonly cwd?: string;
  /** Tests that the files under test declare. */
  readonly declared?: readonly Declared[];
  /** How a plain script says that it reached its end. */
  readonly ending?: Ending;
}

export interface Ending {
  /** Written to the report by whoever reached the end; nobody else knows it. */
  readonly nonce: string;
  /** The author's own text ends the script with the wanted status before its last line. */
  readonly exits: boolean;
  /** The author's own text leaves nobody to say that the end was reached: another program takes over. */
  readonly silent: boolean;
  /** The author's own text lets tests be skipped. */
  readonly skips: boolean;
  /** Statuses by which the author's own text says no. */
  readonly refusals: readonly number[];
}
