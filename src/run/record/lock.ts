// Who works on a run. One process at a time; the kernel gives the lock back however its holder ends.
import { existsSync } from "node:fs";
import { NutError } from "../../errors.js";
import { type Lock, openLock } from "../../state/index.js";
import type { RunFolder } from "./folder.js";

export function lockRun(folder: Pick<RunFolder, "lock" | "id">): Lock {
  const lock = openLock(folder.lock);
  if (lock.tryAcquire()) return lock;
  throw new NutError("RUN_BUSY", `run ${folder.id} is being worked on by another process`, { hint: "nexus runs" });
}

export function isRunBusy(lockPath: string): boolean {
  if (!existsSync(lockPath)) return false;
  const lock = openLock(lockPath);
  if (!lock.tryAcquire()) return true;
  lock.release();
  return false;
}
