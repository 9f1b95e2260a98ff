import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { main } from "../../src/cli/main.js";
import { program } from "../../src/commands/nutshell/program.js";
import type { Prompter } from "../../src/operation.js";

const SERVE = fileURLToPath(new URL("./clawnet-double/serve.mjs", import.meta.url));

export interface DoubleNode {
  readonly url: string;
  readonly peerId: string;
  readonly seed: string;
  readonly publicKey: string;
}

export interface LogRow {
  readonly node: number;
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
}

export interface Double {
  readonly nodes: readonly DoubleNode[];
  control(verb: string, body?: object): Promise<unknown>;
  log(): Promise<LogRow[]>;
  account(node: number): Promise<{ balance: number; frozen: number }>;
  stop(): Promise<void>;
}

interface Serving {
  readonly control: string;
  readonly nodes: readonly DoubleNode[];
  stop(): Promise<void>;
}

/** The stand-in, in this process: a program of its own for each test took longer than the test. */
export async function startDouble({ profile }: { readonly profile?: string } = {}): Promise<Double> {
  const { serve } = (await import(SERVE)) as { serve(options: { profile?: string }): Promise<Serving> };
  const { control: address, nodes, stop } = await serve({ profile });
  const control = async (verb: string, body: object = {}) => {
    const answer = await fetch(`${address}/${verb}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { connection: "close" },
    });
    return answer.json();
  };
  return {
    nodes,
    control,
    log: () => control("log") as Promise<LogRow[]>,
    account: (node) => control("account", { node }) as Promise<{ balance: number; frozen: number }>,
    stop,
  };
}

export interface Person {
  readonly home: string;
  run(...argv: string[]): Promise<{ code: number; out: string; err: string }>;
  json(...argv: string[]): Promise<Record<string, unknown>>;
  /** At a terminal, saying no to everything; what was asked. */
  asked(...argv: string[]): Promise<string[]>;
}

/** Somebody at a node: a folder of their own, the node's key where the daemon keeps it, and the command line. */
export function person(node: DoubleNode): Person {
  const home = mkdtempSync(join(tmpdir(), "nut-market-"));
  const data = join(home, ".openclaw/clawnet");
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, "identity.key"), Buffer.from(node.seed + node.publicKey, "hex"), { mode: 0o600 });
  const runAt = async (ask: Prompter | null, argv: readonly string[]) => {
    const text = { out: "", err: "" };
    const sink = (key: "out" | "err") =>
      new Writable({
        write(chunk, _encoding, done) {
          text[key] += chunk;
          done();
        },
      });
    const code = await main(program, [...argv, "--clawnet", node.url], {
      cwd: home,
      env: { HOME: home, PATH: process.env.PATH, TMPDIR: tmpdir() },
      now: () => new Date(),
      signal: new AbortController().signal,
      stdin: () => Readable.from([]),
      stdout: sink("out"),
      stderr: sink("err"),
      ask,
    });
    assertKept(text.out + text.err, node.url);
    return { code, ...text };
  };
  const run = (...argv: string[]) => runAt(null, argv);
  return {
    home,
    run,
    async asked(...argv) {
      const questions: string[] = [];
      const no = async (question: string) => questions.push(question) < 0;
      await runAt({ confirm: no, text: async () => "", secret: async () => "" }, argv);
      return questions;
    },
    async json(...argv) {
      const { out, err } = await run(...argv, "--json");
      if (out === "") throw new Error(err);
      return JSON.parse(out);
    },
  };
}

const MARKET_LINE =
  /(?<!who checks it with: )nutshell (?:publish|claim|deliver|receive|tasks|bids?|assign|approve|reject|cancel|balance)\b(?! --help)(?:(?!nutshell |nexus ).)*/g;

/** Whoever named their daemon is never sent to another one: every line printed for them names it too. */
function assertKept(printed: string, url: string): void {
  const lost = [...printed.matchAll(MARKET_LINE)].map(([line]) => line).filter((line) => !line.includes(url));
  if (lost.length > 0) throw new Error(`the daemon is not named: ${lost.join("\n")}`);
}

export function leave(...people: Person[]): void {
  for (const { home } of people) rmSync(home, { recursive: true, force: true });
}

/** A request folder that is ready to be published. */
export function writeRequest(person: Person, name = "task", extra: object = {}): string {
  const dir = join(person.home, name);
  mkdirSync(join(dir, "context"), { recursive: true });
  mkdirSync(join(dir, "tests"), { recursive: true });
  writeFileSync(join(dir, "context/requirements.md"), "# Say hello\n\nWrite `files/hello.txt` with the word hello.\n");
  writeFileSync(join(dir, "tests/hello.sh"), "#!/bin/sh\ngrep -q hello files/hello.txt\n", { mode: 0o755 });
  const criteria = [{ id: "AC-1", description: "says hello", type: "shell", script: "tests/hello.sh" }];
  writeFileSync(join(dir, "tests/criteria.json"), JSON.stringify({ criteria_version: "0.2.0", criteria }));
  const manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: `nut-story-${name}`,
    task: { title: "Say hello / ../ to the world", summary: "Write a file that says hello." },
    tags: { skills_required: ["shell", "text"], domains: ["greetings"], data_sources: ["none://here"] },
    context: { requirements: "context/requirements.md" },
    acceptance: { criteria_file: "tests/criteria.json", checklist: ["the file says hello"] },
    harness: { constraints: ["Do not modify files outside files/"] },
    extensions: {
      linear: { issue_id: "ENG-1" },
      clawnet: { note: "keep me", reward: { amount: 500, source: "budget" } },
    },
    ...extra,
  };
  writeFileSync(join(dir, "nutshell.json"), JSON.stringify(manifest, null, 2));
  return dir;
}
