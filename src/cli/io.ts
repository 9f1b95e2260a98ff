import type { Readable, Writable } from "node:stream";
import { NutError } from "../errors.js";
import type { Context, Prompter } from "../operation.js";

/** The process as the command line sees it. Tests hand in their own. */
export interface Io {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly stdin: () => Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  /** null when nobody can answer. */
  readonly ask: Prompter | null;
}

/** The process as an operation sees it. With `--json` nobody is asked. */
export function contextOf(io: Io, json: boolean, progress: Context["progress"], typed?: string): Context {
  return {
    cwd: io.cwd,
    ...(typed === undefined ? {} : { typed }),
    env: io.env,
    now: io.now,
    signal: io.signal,
    get ask() {
      return json ? null : io.ask;
    },
    stdin: io.stdin,
    stdout: () => {
      if (!json) return io.stdout;
      throw new NutError("USAGE", "with --json, standard output carries the answer alone", {
        hint: "name a file instead of -",
      });
    },
    progress,
  };
}
