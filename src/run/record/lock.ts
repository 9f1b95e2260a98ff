// Who works on a run. One process at a time; the kernel gives the lock back however its holder ends.
import { statSync } from "node:fs";
import { NutError } from "../../errors.js";
import { type Lock, openLock } from "../../state/index.js";
import { replaceable } from "./damaged-file.js";
import type { RunFolder } from "./folder.js";

export function lockRun(folder: Pick<RunFolder, "lock" | "id">): Lock {
  if (!isFree(folder.lock) && !isFile(folder.lock)) throw replaceable(folder.lock, "it is not a file");
  const lock = openLock(folder.lock);
  if (lock.tryAcquire()) return lock;
  throw new NutError("RUN_BUSY", `run ${folder.id} is being worked on by another process`, { hint: "nexus runs" });
}

export function isRunBusy(lockPath: string): boolean {
  // What is no file nobody holds.
  if (!isFile(lockPath)) return false;
  const lock = openLock(lockPath);
  if (!lock.tryAcquire()) return true;
  lock.release();
  return false;
}

const isFree = (path: string) => statSync(path, { throwIfNoEntry: false }) === undefined;
const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
