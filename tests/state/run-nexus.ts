// The command line in process: one call, its streams and its exit status.
import { type PassThrough, Readable, Writable } from "node:stream";
import { main } from "../../src/cli/main.js";
import { program } from "../../src/commands/nexus/program.js";
import type { Context } from "../../src/operation.js";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly ask?: Context["ask"];
}

export async function runNexus(
  argv: readonly string[],
  { cwd, env, stdin = "", ask = null }: Surroundings,
): Promise<Ran> {
  const text = { out: "", err: "" };
  const sink = (key: "out" | "err") =>
    new Writable({
      write(chunk, _, done) {
        text[key] += chunk;
        done();
      },
    });
  const code = await main(program, argv, {
    cwd,
    env,
    now: () => new Date(),
    signal: new AbortController().signal,
    stdin: () => Readable.from([Buffer.from(stdin)]) as unknown as PassThrough,
    stdout: sink("out"),
    stderr: sink("err"),
    ask,
  });
  return { code, ...text };
}
