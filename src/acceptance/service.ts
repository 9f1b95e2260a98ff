// A program under test that is asked from outside: it runs in a room of its own, and whoever asks it is in another. The two
// share one folder with a socket in it, and nothing else: no process, no file, no network.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChildResult } from "../process/index.js";
import type { RoomCommand } from "./room/rooms.js";
import type { Stage } from "./run-program.js";
import { logOf } from "./runners/outcomes.js";

export interface ServiceOptions {
  /** What serves; told where the shared folder is in its room. */
  readonly command: (line: string) => Pick<RoomCommand, "command" | "args" | "env" | "stdin">;
  /** A name in the shared folder that is there when it can be asked. */
  readonly ready: string;
  readonly timeoutMs: number;
}

/** The shared folder on this machine, while the service runs. */
export type AskService<T> = (line: string) => Promise<T>;

export interface Served<T> {
  /** null when it could not be asked. */
  readonly answer: T | null;
  readonly log: string;
  /** The last words of the service, when it ended before it was asked. */
  readonly lastWords: string | null;
}

export async function withService<T>(stage: Stage, options: ServiceOptions, ask: AskService<T>): Promise<Served<T>> {
  // Short, because a socket's path may not be long.
  const line = mkdtempSync(join(existsSync("/tmp") ? "/tmp" : tmpdir(), "nut-line-"));
  const room = stage.rooms.open(stage.tree, { network: "none", line: { folder: line, access: "writable" } });
  const stop = new AbortController();
  const signals = [stop.signal, ...(stage.signal === undefined ? [] : [stage.signal])];
  const ended = room
    .run({ ...options.command(room.line), timeoutMs: options.timeoutMs + 5_000, signal: AbortSignal.any(signals) })
    .finally(() => stop.abort());
  try {
    const ready = await appears(join(line, options.ready), options.timeoutMs, AbortSignal.any(signals));
    const answer = ready ? await ask(line) : null;
    stop.abort();
    const result = await ended;
    return { answer, log: logOf(result), lastWords: lastWords(result) };
  } finally {
    stop.abort();
    await ended.catch(() => {});
    room.close();
    rmSync(line, { recursive: true, force: true });
  }
}

function lastWords({ reason, stderr }: ChildResult): string | null {
  if (reason !== "exited") return null;
  return stderr.text.split("\n").findLast((line) => /\p{L}/u.test(line)) ?? "it ended without a word";
}

/** Whether a path is there before time is up or the service ends. */
async function appears(path: string, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const until = performance.now() + timeoutMs;
  while (!existsSync(path)) {
    if (signal.aborted || performance.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
