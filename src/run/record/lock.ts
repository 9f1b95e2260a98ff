// Who works on a run. One process at a time; the kernel gives the lock back however its holder ends.
import { existsSync } from "node:fs";
import { NutError } from "../../errors.js";
import { isHeld, type Lock, openLock } from "../../state/index.js";
import type { RunFolder } from "./folder.js";

export function lockRun(folder: Pick<RunFolder, "lock" | "id">): Lock {
  const lock = openLock(folder.lock);
  // Whoever only asks whether somebody works on it has it for an instant.
  for (let tries = 0; tries < 5; tries += 1) {
    if (lock.tryAcquire()) return lock;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  throw new NutError("RUN_BUSY", `run ${folder.id} is being worked on by another process`, { hint: "nexus runs" });
}

export function isRunBusy(lockPath: string): boolean {
  try {
    return existsSync(lockPath) && isHeld(lockPath);
  } catch (error) {
    // Pruned between the two.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
