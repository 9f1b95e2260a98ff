// One writer at a time, across processes. The kernel holds the lock, so it ends with the process that held it, however that
// ended; the file is never deleted, because a lock on a deleted file excludes nobody. Nobody ever steals a lock.
// A process whose addon does not load holds by a claim instead (file-lock.ts), which the kernel knows nothing of. So each kind
// shows that it holds (a mark in the lock's file, a claim beside it) and only then looks for the other, and gives way if it
// is there: of two that come at once, both see each other or one of them has gone.
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NutError } from "../errors.js";
import { makeFolder } from "../files/index.js";
import { claimant, fileLock, isClaimed } from "./file-lock.js";
import { type Kernel, loadAddon } from "./kernel-addon.js";
import { isMarked, markedPid, writeMark } from "./lock-mark.js";

export interface Lock {
  /** Takes the lock or returns false at once, also when this very lock is held already. */
  tryAcquire(): boolean;
  release(): void;
}

export interface NamedLock {
  readonly lock: Lock;
  readonly path: string;
}

/** A change takes milliseconds, even in a crowd; whoever waits this long waits for a process that is stuck or stopped. */
export const LOCK_WAIT_MS = 30_000;

/** Changes are short: asking again soon keeps the lock busy when many want it. */
const FIRST_PAUSE_MS = 1;
const SHORTEST_PAUSE_MS = 0.5;
/** Whoever has waited longer asks more often: a newcomer must not always win. */
const EAGER_AFTER_MS = 250;

/** Most changes take microseconds: asking again at once is cheaper than any pause. */
const TRIES_AT_ONCE = 3;

/** Runs `change` alone. Throws STATE_LOCKED, naming the holder, when the lock does not come free in time. */
export async function exclusively<T>({ lock, path }: NamedLock, change: () => T, waitMs = LOCK_WAIT_MS): Promise<T> {
  await acquire({ lock, path }, waitMs);
  try {
    return change();
  } finally {
    lock.release();
  }
}

/** Whoever acquires releases. Throws STATE_LOCKED as above. */
export async function acquire({ lock, path }: NamedLock, waitMs: number): Promise<void> {
  const start = performance.now();
  for (let tries = 1; !lock.tryAcquire(); tries += 1) {
    if (tries % TRIES_AT_ONCE !== 0) continue;
    const waited = performance.now() - start;
    if (waited >= waitMs) throw lockedBy(path, waitMs);
    const pause = Math.max(SHORTEST_PAUSE_MS, FIRST_PAUSE_MS * (1 - waited / EAGER_AFTER_MS));
    // Uneven pauses keep a crowd of writers from asking in step.
    await sleep(pause * (0.5 + Math.random()));
  }
}

/** The kernel's lock where its addon loads, otherwise a slower one built from files alone. */
export function openLock(path: string): Lock {
  const kernel = loadKernel();
  const lock = kernel === null ? fileLock(path, () => isMarked(path)) : kernelLock(path, kernel);
  return oncePerProcess(lock);
}

/** Whether somebody holds it. The question leaves no open file behind: a board asks it many times a second, for hours. */
export function isHeld(path: string): boolean {
  const kernel = loadKernel();
  if (kernel === null) {
    const lock = openLock(path);
    if (!lock.tryAcquire()) return true;
    lock.release();
    return false;
  }
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    if (!kernel.tryLock(fd)) return true;
    kernel.unlock(fd);
    return isClaimed(path);
  } finally {
    closeSync(fd);
  }
}

/** To the kernel, a process that asks again for what it holds has it. */
function oncePerProcess(lock: Lock): Lock {
  let held = false;
  return {
    tryAcquire() {
      if (!held && lock.tryAcquire()) {
        held = true;
        return true;
      }
      return false;
    },
    release() {
      if (!held) return;
      held = false;
      lock.release();
    },
  };
}

let kernel: Kernel | null | undefined;

function loadKernel(): Kernel | null {
  if (kernel !== undefined) return kernel;
  try {
    kernel = loadAddon();
  } catch {
    kernel = null; // No prebuilt addon for this platform.
  }
  return kernel;
}

function kernelLock(path: string, { tryLock, unlock }: Kernel): Lock {
  let fd: number | null = null;
  return {
    tryAcquire() {
      fd ??= openLockFile(path);
      if (!tryLock(fd)) return false;
      // `rm -rf .nexus/state` under a running server: the lock we hold is on a file nobody else can find any more.
      if (statSync(path, { throwIfNoEntry: false })?.ino !== fstatSync(fd).ino) {
        closeSync(fd);
        fd = null;
        return this.tryAcquire();
      }
      writeMark(fd, "held");
      if (!isClaimed(path)) return true;
      this.release();
      return false;
    },
    release() {
      if (fd === null) return;
      writeMark(fd, "free");
      unlock(fd);
    },
  };
}

function openLockFile(path: string): number {
  makeFolder(dirname(path));
  return openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o644);
}

export function lockedBy(path: string, waitMs: number): NutError {
  const pid = holderPid(path);
  const who = pid === null ? "another process" : `process ${pid}`;
  return new NutError("STATE_LOCKED", `the project's state is held by ${who} for more than ${waitMs / 1000} s`, {
    hint: pid === null ? "try again" : `ps -p ${pid}`,
    data: { path, pid },
  });
}

function holderPid(path: string): number | null {
  try {
    return claimant(path) ?? markedPid(path);
  } catch {
    return null;
  }
}
