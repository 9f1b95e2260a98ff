// The programs of program.ts in this process: the same answer without starting one. For what only looks at the answer; where
// the process is the point (signals, terminals, locks, what is bundled), it is started.
import { Readable, Writable } from "node:stream";
import { main } from "../../src/cli/main.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";
import { environment, type Ran } from "./program.js";

const LIMIT_MS = 120_000;

export async function here(
  program: "nexus" | "nutshell",
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = environment(cwd),
): Promise<Ran> {
  const said = { stdout: "", stderr: "" };
  const sink = (name: keyof typeof said) =>
    new Writable({
      write(chunk, _, done) {
        said[name] += chunk;
        done();
      },
    });
  const status = await main(program === "nexus" ? nexus : nutshell, args, {
    cwd,
    env,
    now: () => new Date(),
    signal: AbortSignal.timeout(LIMIT_MS),
    stdin: () => Readable.from([]),
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    ask: null,
  });
  return { status, ...said };
}
