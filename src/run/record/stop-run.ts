// Stopping a run from outside. Whoever works on it looks for a small file in its folder several times a second: that reaches
// it in any sandbox and needs no process id, which by then might be somebody else's.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { NutError } from "../../errors.js";
import { atomicWrite } from "../../files/index.js";
import { RUN_VERSION } from "../../schema/run.js";
import type { Trip } from "../agents/breakers.js";
import type { RunFolder } from "./folder.js";
import { Journal } from "./journal.js";
import { lockRun } from "./lock.js";

export type StopKind = "paused" | "cancelled";

const LOOK_MS = 200;
const WORDS: Readonly<Record<StopKind, string>> = {
  paused: "a person paused the run",
  cancelled: "a person cancelled the run",
};

/** Asks whoever works on the run to stop. It does so at its next safe place. */
export function askToStop({ stop }: Pick<RunFolder, "stop">, kind: StopKind): void {
  atomicWrite(stop, `${JSON.stringify({ stop: kind })}\n`);
}

/** What was asked of an earlier stretch of work, or came with a copied folder, is not asked of this one. */
export function forgetStop({ stop }: Pick<RunFolder, "stop">): void {
  rmSync(stop, { force: true, recursive: true });
}

/** Halts the run as soon as somebody asks for it. Returns what ends the looking. */
export function watchForStop(folder: Pick<RunFolder, "stop">, halt: AbortController): () => void {
  const timer = setInterval(() => {
    const kind = halt.signal.aborted ? null : askedFor(folder);
    if (kind !== null) halt.abort({ breaker: kind, message: WORDS[kind], goOn: "" } satisfies Trip);
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function askedFor({ stop }: Pick<RunFolder, "stop">): StopKind | null {
  if (!existsSync(stop)) return null;
  try {
    return (JSON.parse(readFileSync(stop, "utf8")) as { stop?: unknown }).stop === "cancelled" ? "cancelled" : "paused";
  } catch {
    // Whoever put it there wants it to stop, whatever else it says.
    return "paused";
  }
}

/** Gives up a run that nobody works on. It stays on disk, and can still be taken up by its name. */
export function cancelRun(folder: RunFolder, now: Date): void {
  const lock = lockRun(folder);
  try {
    const journal = new Journal(folder.journal);
    try {
      if (journal.state.closed) {
        throw new NutError("RUN_IDLE", `run ${folder.id} has delivered: there is nothing to cancel`, {
          hint: "nexus runs",
        });
      }
      // Killed before it wrote its first record down.
      if (journal.state.createdAt === "")
        journal.append({ type: "created", at: now.toISOString(), version: RUN_VERSION, run: folder.id });
      const record = { reason: "cancelled", message: WORDS.cancelled, hint: `nexus resume ${folder.id}`, ms: 0 };
      if (journal.state.paused?.reason !== "cancelled")
        journal.append({ type: "paused", at: now.toISOString(), ...record });
    } finally {
      journal.close();
    }
  } finally {
    lock.release();
  }
}
