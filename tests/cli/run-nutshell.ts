// The command line in process: one call, its streams and its exit status.
import { Readable, Writable } from "node:stream";
import type { Io } from "../../src/cli/io.js";
import { main } from "../../src/cli/main.js";
import { program } from "../../src/commands/nutshell/program.js";
import type { Prompter } from "../../src/operation.js";

export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly stdin?: Uint8Array;
  readonly ask?: Prompter;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Whether both streams are a terminal. */
  readonly terminal?: boolean;
}

export const NOW = new Date("2026-03-14T10:00:00Z");

export async function runNutshell(argv: readonly string[], options: RunOptions): Promise<Run> {
  const { cwd, stdin, ask, env, signal = new AbortController().signal, terminal = false } = options;
  const written = { out: "", err: "" };
  const sink = (key: "out" | "err"): Io["stdout"] => {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        written[key] += chunk;
        done();
      },
    });
    return Object.assign(stream, { isTTY: terminal });
  };
  const code = await main(program, argv, {
    cwd,
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", ...env },
    now: () => NOW,
    signal,
    stdin: () => Readable.from(stdin === undefined ? [] : [stdin]),
    stdout: sink("out"),
    stderr: sink("err"),
    ask: ask ?? null,
  });
  return { code, ...written };
}
