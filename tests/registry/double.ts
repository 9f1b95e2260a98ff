import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("./registry-double/main.mjs", import.meta.url));

export interface LogRow {
  readonly on: "registry" | "storage" | "tokens";
  readonly method?: string;
  readonly url?: string;
  readonly authorization?: string | null;
  readonly range?: string | null;
  readonly contentRange?: string | null;
  readonly scope?: string | readonly string[];
}

export interface RegistryDouble {
  readonly host: string;
  readonly tokens: string;
  readonly storage: string;
  /** Options and faults, as world.mjs describes them. */
  set(options: object): Promise<void>;
  /** A manifest as it is, right or wrong; returns its digest. */
  put(row: { repository: string; tag?: string; text: string; type: string; blob?: string }): Promise<string>;
  /** What was asked since this was called last. */
  log(): Promise<LogRow[]>;
  stop(): Promise<void>;
}

/** Starts the double as its own process and waits until it listens. */
export async function startDouble(options: object = {}): Promise<RegistryDouble> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], { stdio: ["pipe", "pipe", "inherit"] });
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const ports = JSON.parse(value) as Record<"registry" | "storage" | "tokens" | "control", number>;
  const control = async (verb: string, body: object = {}) => {
    const answer = await fetch(`http://127.0.0.1:${ports.control}/${verb}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return answer.json();
  };
  return {
    host: `127.0.0.1:${ports.registry}`,
    tokens: `127.0.0.1:${ports.tokens}`,
    storage: `127.0.0.1:${ports.storage}`,
    set: async (more) => void (await control("set", more)),
    put: async (row) => ((await control("put", row)) as { digest: string }).digest,
    log: () => control("log") as Promise<LogRow[]>,
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.stdin.end();
      }),
  };
}
