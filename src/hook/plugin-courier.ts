// Hands what happened inside OpenCode to the hook process, which may wait for the store's lock.
import { spawn, spawnSync } from "node:child_process";
import type { PluginAnswer, PluginNote } from "../hosts/index.js";

export interface PluginPlace {
  readonly node: string;
  readonly hook: string;
}

const WAIT_MS = 15_000;
const LAST_WAIT_MS = 5_000;
/** Options for Node are meant for the person's programs, and a bad one would keep ours from starting. */
const environment = () => ({ ...process.env, NODE_OPTIONS: "" });

/** A class because notes wait in line as long as the plugin lives. */
export class Courier {
  readonly #place: PluginPlace;
  readonly #directory: string;
  readonly #warn: (line: string) => void;
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: PluginPlace, directory: string, warn: (line: string) => void) {
    this.#place = place;
    this.#directory = directory;
    this.#warn = warn;
  }

  /**
   * One after the other: an edit is recorded before the agent that made it is done. Never rejects: a note that cannot be
   * delivered is told to the person, and the session goes on.
   */
  async tell(note: Omit<PluginNote, "directory">): Promise<PluginAnswer | null> {
    const sent = this.#last.then(() => deliver(this.#place, { directory: this.#directory, ...note }));
    this.#last = sent.catch(() => null);
    try {
      const answer = await sent;
      for (const line of answer?.warnings ?? []) this.#warn(line);
      return answer;
    } catch (error) {
      this.#warn(`a hook was not delivered: ${String(error)}`);
      return null;
    }
  }

  /** While the process is ending: nothing asynchronous runs any more. */
  tellNow(note: Omit<PluginNote, "directory">): void {
    spawnSync(this.#place.node, [this.#place.hook, "opencode", note.hook], {
      input: JSON.stringify({ directory: this.#directory, ...note }),
      timeout: LAST_WAIT_MS,
      env: environment(),
      stdio: ["pipe", "ignore", "ignore"],
    });
  }
}

function deliver({ node, hook }: PluginPlace, note: PluginNote): Promise<PluginAnswer | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [hook, "opencode", note.hook], {
      stdio: ["pipe", "pipe", "pipe"],
      timeout: WAIT_MS,
      env: environment(),
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (data) => {
      stdout += data;
    });
    child.stderr.on("data", (data) => {
      stderr += data;
    });
    child.on("error", reject);
    child.stdin.on("error", () => {});
    child.on("close", () => {
      try {
        resolve(answerIn(stdout, stderr));
      } catch (error) {
        reject(error);
      }
    });
    child.stdin.end(JSON.stringify(note));
  });
}

function answerIn(stdout: string, stderr: string): PluginAnswer | null {
  if (stdout !== "") return JSON.parse(stdout) as PluginAnswer;
  if (stderr !== "") throw new Error(stderr.trim());
  return null;
}
