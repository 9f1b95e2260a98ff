// Files that are read, changed and written by several processes of one account: one after the other.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isSystemError, NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { type Lock, openLock } from "../../state/index.js";
import { stateFolder } from "./record-file.js";

const PAUSE_MS = 20;
const WAIT_MS = 60_000;

/**
 * Runs `change` while no other process of this account runs one of the same name. Where there is no home, or none that can be
 * written, there is no place to agree, and it runs all the same.
 */
export async function inTurn<T>(name: string, { env, signal }: Context, change: () => T): Promise<T> {
  const folder = stateFolder(env);
  if (folder === null) return change();
  const path = join(folder, `${name}.lock`);
  const lock = openLock(path);
  if (!canLock(lock)) return change();
  for (let waited = 0; !lock.tryAcquire(); waited += PAUSE_MS) {
    if (waited >= WAIT_MS) {
      throw new NutError("STATE_LOCKED", `another process has been ${name} for ${WAIT_MS / 1_000} seconds: ${path}`, {
        hint: "run the command again when it has ended",
      });
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
  try {
    return change();
  } finally {
    lock.release();
  }
}

function canLock(lock: Lock): boolean {
  try {
    if (lock.tryAcquire()) lock.release();
    return true;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}
