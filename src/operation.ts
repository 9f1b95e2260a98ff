import type { Readable, Writable } from "node:stream";
import type { z } from "zod";

/** How a door lets an operation speak to a person. Absent (null in Context) when there is no terminal. */
export interface Prompter {
  text(question: string, options?: { initial?: string }): Promise<string>;
  confirm(question: string, options?: { initial?: boolean }): Promise<boolean>;
  /** Reads without echo. */
  secret(question: string): Promise<string>;
}

/** Something happened during long work. A terminal, a log and JSON Lines are three listeners to the same events. */
export interface Progress {
  readonly type: string;
  /** One line for a person; absent for events only machines care about. */
  readonly message?: string;
  readonly done?: number;
  readonly total?: number;
  readonly [field: string]: unknown;
}

/** The world's edges, handed in by a door. Nothing below a door touches process.argv, env, cwd, the clock or stdio. */
export interface Context {
  readonly cwd: string;
  /** The command line as it was typed, for hints to repeat; absent where nobody typed one. */
  readonly typed?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly progress: (event: Progress) => void;
  readonly ask: Prompter | null;
  readonly stdin: () => Readable & { isTTY?: boolean };
  /** Only for operations whose result is a stream of bytes; everything else returns its result. */
  readonly stdout: () => Writable & { isTTY?: boolean };
}

/** One thing the product can do: a command for people, a tool for agents, a function of the library. */
export interface Operation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly summary: string;
  readonly input: Input;
  readonly output: Output;
  run(input: z.output<Input>, context: Context): Promise<z.output<Output>>;
}
