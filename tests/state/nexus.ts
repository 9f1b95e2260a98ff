// The command line in process, in a fresh project of its own.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PassThrough, Readable, Writable } from "node:stream";
import { afterEach } from "vitest";
import { main } from "../../src/cli/main.js";
import { program } from "../../src/commands/nexus/program.js";
import { forgetProjects } from "../../src/state/index.js";

const made: string[] = [];

afterEach(() => {
  forgetProjects();
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export function freshProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "nexus-state-"));
  made.push(folder);
  return folder;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Surroundings {
  readonly env?: Record<string, string>;
  readonly stdin?: string;
}

export async function nexus(
  cwd: string,
  argv: readonly string[],
  { env = {}, stdin = "" }: Surroundings = {},
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
    env: { NEXUS_PROJECT_DIR: cwd, ...env },
    now: () => new Date(),
    signal: new AbortController().signal,
    stdin: () => Readable.from([Buffer.from(stdin)]) as unknown as PassThrough,
    stdout: sink("out"),
    stderr: sink("err"),
    ask: null,
  });
  return { code, ...text };
}

/** A tool's result, parsed; fails the test when there is none. */
export async function call(cwd: string, tool: string, params: unknown = {}, around: Surroundings = {}) {
  const ran = await nexus(cwd, ["call", tool, JSON.stringify(params)], around);
  if (ran.out === "") throw new Error(`${tool}: ${ran.err}`);
  return JSON.parse(ran.out);
}
