// Going on with a run from the board: `nexus resume` in a process of its own, with exactly its guards. What it would ask a
// person it cannot ask here, so it refuses, and its words are passed on.
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NutError, shellWord } from "../../errors.js";
import { clearAway } from "../../files/index.js";
import { nexusProgram, RunReader } from "../../run/index.js";
import { withoutEscapes } from "../log-lines.js";

export interface GoingOn {
  readonly root: string;
  readonly runs: string;
  readonly run: string;
  readonly deliver: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const PATIENCE_MS = 20_000;

/** Returns once the run is at work. It stays so when the board ends. Throws with the refusal of `nexus resume`. */
export async function goOn({ root, runs, run, deliver, env }: GoingOn): Promise<void> {
  const reader = new RunReader(runs, run);
  // Not into the run's folder: whoever brought that may have put a link there.
  const folder = mkdtempSync(join(tmpdir(), "nut-resume-"));
  const output = openSync(join(folder, "log"), "wx+", 0o600);
  try {
    await started(reader, output, { root, run, deliver, env });
  } finally {
    closeSync(output);
    clearAway(folder);
  }
}

async function started(
  reader: RunReader,
  output: number,
  { root, run, deliver, env }: Omit<GoingOn, "runs">,
): Promise<void> {
  const { command, args } = nexusProgram("resume", run, ...(deliver ? ["--deliver"] : []));
  const child = spawn(command, args, { cwd: root, env, detached: true, stdio: ["ignore", output, output] });
  let ended: number | null | undefined;
  child.once("error", () => {
    ended = null;
  });
  child.once("exit", (code) => {
    ended = code;
  });
  child.unref();
  const until = Date.now() + PATIENCE_MS;
  // A run that is over before we look was at work all the same.
  while (ended === undefined && !reader.isBusy && Date.now() < until) await sleep(100);
  if (ended === undefined || ended === 0 || ended === 1) return;
  const [, why = "it could not be started"] = /error: (.+)/.exec(withoutEscapes(beginning(output))) ?? [];
  throw new NutError("TOOL_REFUSED", `the run does not go on: ${why}`, { hint: `nexus resume ${shellWord(run)}` });
}

function beginning(file: number): string {
  const buffer = Buffer.alloc(64 * 1024);
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0)).toString("utf8");
}
