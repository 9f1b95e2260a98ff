// The broker as a process of its own: it answers while the run compares trees, it ends with whoever started it, and when it
// ends nothing goes through. Both sides speak JSON, one line each, over its standard input and output; secrets go no other way.
import { type ChildProcess, spawn } from "node:child_process";
import { NutError } from "../errors.js";
import { type Environment, readLines } from "../process/index.js";
import type { Admission, Broker, BrokerInput, Guest } from "./broker.js";
import type { PolicyInput } from "./policy.js";
import type { BrokerUse } from "./use.js";

export type Question =
  | { readonly id: number; readonly op: "open"; readonly allowOrigins: readonly string[] }
  | { readonly id: number; readonly op: "lend"; readonly lent: PolicyInput }
  | { readonly id: number; readonly op: "admit"; readonly who: Guest }
  | { readonly id: number; readonly op: "dismiss"; readonly admission: number }
  | { readonly id: number; readonly op: "close" };

/** A question without its number. */
type Asked = Question extends infer Each ? (Each extends unknown ? Omit<Each, "id"> : never) : never;

export interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: string;
  readonly use?: BrokerUse;
}

export interface BrokerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

/** Of the person's environment what finds a service and says whom to trust. */
const PASSED = ["PATH", "LANG", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "TZ"];
/** How long it has to take back what it made, such as a role of a database. */
const GRACE_MS = 10_000;

/** The parent's side. */
export async function startBroker(program: BrokerProgram, input: BrokerInput): Promise<Broker> {
  const env = Object.fromEntries(
    PASSED.flatMap((name) => (program.env[name] === undefined ? [] : [[name, program.env[name]]])),
  );
  const child = spawn(program.command, program.args, { cwd: "/", env, stdio: ["pipe", "pipe", "ignore"] });
  const line = new Line(child, input.onUse ?? (() => {}));
  const { origin } = (await line.ask({ op: "open", allowOrigins: input.allowOrigins ?? [] })) as { origin: string };
  return {
    origin,
    lend: async (lent) => {
      await line.ask({ op: "lend", lent });
    },
    admit: async (who) => {
      const { id, result } = await line.askNumbered({ op: "admit", who });
      return {
        ...(result as Omit<Admission, "close">),
        close: async () => {
          await line.ask({ op: "dismiss", admission: id }).catch(() => null);
        },
      };
    },
    close: () => line.close(),
  };
}

class Line {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  readonly #ended: Promise<void>;
  #next = 1;
  #isOver = false;

  constructor(child: ChildProcess, onUse: (use: BrokerUse) => void) {
    this.#child = child;
    child.stdin!.on("error", () => {});
    readLines(child.stdout!, (text) => {
      const { id, result, error, use } = JSON.parse(text) as Reply;
      if (use !== undefined) onUse(use);
      if (id === undefined) return;
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error));
    });
    this.#ended = new Promise((resolve) => {
      const over = () => {
        this.#isOver = true;
        for (const { reject } of this.#waiting.values()) reject(gone());
        this.#waiting.clear();
        resolve();
      };
      child.once("error", over);
      child.once("close", over);
    });
  }

  async ask(question: Asked): Promise<unknown> {
    return (await this.askNumbered(question)).result;
  }

  async askNumbered(question: Asked): Promise<{ readonly id: number; readonly result: unknown }> {
    if (this.#isOver) throw gone();
    const id = this.#next++;
    const result = await new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin!.write(`${JSON.stringify({ id, ...question })}\n`);
    });
    return { id, result };
  }

  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#child.stdin!.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), GRACE_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}

const gone = () =>
  new NutError("BROKER_GONE", "the process that lends credentials has ended, so nobody can use them", {
    hint: "nexus resume",
  });
