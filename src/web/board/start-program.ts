// A command of ours in a process of its own, as if it had been typed in the terminal the board was started from, and with
// exactly its guards. What it would ask a person it cannot ask here, so it refuses, and its words are passed on.
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clearAway } from "../../files/index.js";
import { nexusProgram } from "../../run/index.js";

export interface Starting {
  /** Without the program's name. */
  readonly args: readonly string[];
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether it is at work, by what it printed; null: it is waited for until it ends. */
  readonly isAtWork: ((printed: string) => boolean) | null;
  readonly patienceMs: number;
}

export interface Started {
  /** undefined: it goes on. */
  readonly exit: number | null | undefined;
  readonly printed: string;
  readonly refusal: {
    readonly code: string;
    readonly message: string;
    readonly hint: string;
    readonly data: Data;
  } | null;
}

type Data = Readonly<Record<string, unknown>>;

const LOOK_MS = 50;
const FIRST_STEPS_MS = 800;
const MOST_PRINTED = 256 * 1024;

/** Returns once it is at work, and it stays so when the board ends; or once it has ended. */
export async function startProgram({ args, root, env, isAtWork, patienceMs }: Starting): Promise<Started> {
  // Not into the run's folder: whoever brought that may have put a link there.
  const folder = mkdtempSync(join(tmpdir(), "nut-board-"));
  const [out, errors] = ["out", "errors"].map((name) => openSync(join(folder, name), "wx+", 0o600)) as [number, number];
  try {
    const program = nexusProgram(...args, "--json");
    const stdio = ["ignore", out, errors] as const;
    const child = spawn(program.command, program.args, { cwd: root, env, detached: true, stdio: [...stdio] });
    let exit: number | null | undefined;
    child.once("error", () => {
      exit = null;
    });
    child.once("exit", (code) => {
      exit = code;
    });
    child.unref();
    const wait = async (ms: number, isEnough: () => boolean) => {
      const until = performance.now() + ms;
      while (exit === undefined && performance.now() < until && !isEnough()) await sleep(LOOK_MS);
    };
    await wait(patienceMs, () => isAtWork?.(beginning(out)) === true);
    // What is refused on the first steps was never at work.
    await wait(FIRST_STEPS_MS, () => false);
    return { exit, printed: beginning(out), refusal: exit === undefined ? null : refusalIn(beginning(errors)) };
  } finally {
    closeSync(out);
    closeSync(errors);
    clearAway(folder);
  }
}

/** The line of JSON that every refusal is with `--json`. */
function refusalIn(text: string): Started["refusal"] {
  for (const line of text.split("\n").reverse()) {
    try {
      const { error } = JSON.parse(line) as { error?: Record<string, unknown> };
      if (error === undefined) continue;
      const { code, message, hint, data } = error;
      const known = typeof data === "object" && data !== null ? (data as Data) : {};
      return { code: String(code), message: String(message), hint: String(hint ?? ""), data: known };
    } catch {
      // A line of something else.
    }
  }
  return null;
}

function beginning(file: number): string {
  const buffer = Buffer.alloc(MOST_PRINTED);
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0)).toString("utf8");
}
