// Who works on a run. One process at a time; the kernel gives the lock back however its holder ends.
import { statSync } from "node:fs";
import { NutError } from "../../errors.js";
import { isHeld, type Lock, openLock } from "../../state/index.js";
import { replaceable } from "./damaged-file.js";
import type { RunFolder } from "./folder.js";

export function lockRun(folder: Pick<RunFolder, "lock" | "id">): Lock {
  if (!isFree(folder.lock) && !isFile(folder.lock)) throw replaceable(folder.lock, "it is not a file");
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
    // What is no file nobody holds.
    return isFile(lockPath) && isHeld(lockPath);
  } catch (error) {
    // Pruned between the two.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

const isFree = (path: string) => statSync(path, { throwIfNoEntry: false }) === undefined;
const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
