// Runs a command line in process, with a home of its own.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { main } from "../../src/cli/main.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";
import type { Prompter } from "../../src/operation.js";

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly now?: Date;
  readonly ask?: Prompter;
  readonly tty?: boolean;
  readonly program?: "nutshell" | "nexus";
}

export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly bytes: Buffer;
}

export const NOW = new Date("2026-03-14T10:00:00Z");

export class Desk {
  readonly root = mkdtempSync(join(tmpdir(), "nut-vault-"));
  readonly home = join(this.root, "home");
  readonly dir = join(this.root, "task");

  constructor() {
    mkdirSync(this.home);
    this.folder(this.dir);
  }

  /** A folder with the least manifest. */
  folder(dir: string, more: Record<string, unknown> = {}): string {
    mkdirSync(dir, { recursive: true });
    const manifest = {
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: "nut-00000000-0000-4000-8000-000000000001",
      task: { title: "A task", summary: "What to do" },
      x_unknown: { kept: true },
      ...more,
    };
    writeFileSync(join(dir, "nutshell.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    return dir;
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  get env(): Record<string, string> {
    return { HOME: this.home, PATH: process.env.PATH ?? "", TMPDIR: this.root };
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Result> {
    const parts = { out: [] as Buffer[], err: [] as Buffer[] };
    const sink = (key: "out" | "err") =>
      Object.assign(
        new Writable({
          write(chunk, _encoding, done) {
            parts[key].push(Buffer.from(chunk));
            done();
          },
        }),
        { isTTY: options.tty === true },
      );
    const code = await main(options.program === "nexus" ? nexus : nutshell, argv, {
      cwd: this.dir,
      env: { ...this.env, ...options.env },
      now: () => options.now ?? NOW,
      signal: new AbortController().signal,
      stdin: () => Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
      stdout: sink("out"),
      stderr: sink("err"),
      ask: options.ask ?? null,
    });
    const bytes = Buffer.concat(parts.out);
    return { code, bytes, out: bytes.toString("utf8"), err: Buffer.concat(parts.err).toString("utf8") };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Answers questions from lists; fails the test when asked more. */
export function answers({ confirm = [], secret = [] }: { confirm?: boolean[]; secret?: string[] }): Prompter {
  const next = <T>(list: T[], question: string): T => {
    if (list.length === 0) throw new Error(`unexpected question: ${question}`);
    return list.shift()!;
  };
  return {
    text: async (question) => next([] as string[], question),
    confirm: async (question) => next(confirm, question),
    secret: async (question) => next(secret, question),
  };
}
