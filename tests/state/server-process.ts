// A real `nexus mcp` process, spoken to in JSON lines: what an answer promised can be compared with what a kill left.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

interface Answer {
  readonly result?: { isError?: boolean; structuredContent?: Record<string, unknown> };
  readonly error?: { message: string };
}

/** The process ended before it answered: whether the change happened is unknown. */
export class Unanswered extends Error {}

export class ServerProcess {
  readonly child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
  #rest = "";
  #last = 0;

  constructor(cwd: string, env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [resolve("bin/nexus.js"), "mcp"], {
      cwd,
      env: { ...process.env, NEXUS_PROJECT_DIR: cwd, ...env },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.child.stdin!.on("error", () => {});
    this.child.stdout!.on("data", (chunk: Buffer) => this.#read(chunk.toString("utf8")));
    this.child.once("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Unanswered());
      this.#waiting.clear();
    });
  }

  async start(): Promise<this> {
    const clientInfo = { name: "test", version: "1" };
    await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.child.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return this;
  }

  ask(method: string, params: unknown): Promise<Answer> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  /** The structured result. Throws the text of a refusal. */
  async call<T = Record<string, never>>(tool: string, args: Record<string, unknown> = {}): Promise<T> {
    const { result, error } = await this.ask("tools/call", { name: `nx_${tool}`, arguments: args });
    if (error !== undefined) throw new Error(error.message);
    if (result!.isError === true) throw new Error(String(result!.structuredContent?.error));
    return result!.structuredContent as T;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill(signal);
    await ended;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const answer = JSON.parse(line);
      this.#waiting.get(answer.id)?.resolve(answer);
      this.#waiting.delete(answer.id);
    }
  }
}

type EnvOf = (who: number) => Record<string, string>;

export async function startServers(count: number, cwd: string, envOf: EnvOf = () => ({})): Promise<ServerProcess[]> {
  return Promise.all(Array.from({ length: count }, (_, who) => new ServerProcess(cwd, envOf(who)).start()));
}

const DENY_ADDON = `import M from "node:module";
const load = M._load;
M._load = function (name, ...rest) {
  if (name === "fs-native-extensions") throw new Error("no addon for this platform");
  return load.call(this, name, ...rest);
};`;

/** For a process on a platform the kernel lock's addon was not built for. */
export const WITHOUT_ADDON = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(DENY_ADDON)}` };
