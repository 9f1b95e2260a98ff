// The kernel's lock without the addon, which ends a Bun process when a lock is held by someone else. These are the same
// locks as the addon's, so a single file and a nexus run by Node wait for each other.
import { dlopen } from "bun:ffi";
import type { Kernel } from "../../src/state/kernel-addon.js";

export const loadAddon = (): Kernel => (process.platform === "darwin" ? bsdLock() : openFileLock());

/** Linux: a lock on the open file (F_OFD_SETLK), over its whole length. `struct flock` of 64-bit systems. */
function openFileLock(): Kernel {
  const { fcntl } = dlopen("libc.so.6", { fcntl: { args: ["i32", "i32", "ptr"], returns: "i32" } }).symbols;
  const [F_OFD_SETLK, F_WRLCK, F_UNLCK] = [37, 1, 2];
  const set = (fd: number, type: number) => {
    const lock = new Uint8Array(32);
    new DataView(lock.buffer).setInt16(0, type, true);
    return fcntl(fd, F_OFD_SETLK, lock) === 0;
  };
  // Whatever the reason for a no, it is not ours: the caller waits, and names the holder when it has waited enough.
  return { tryLock: (fd) => set(fd, F_WRLCK), unlock: (fd) => void set(fd, F_UNLCK) };
}

/** macOS: flock. */
function bsdLock(): Kernel {
  const { flock } = dlopen("libSystem.B.dylib", { flock: { args: ["i32", "i32"], returns: "i32" } }).symbols;
  const [LOCK_EX, LOCK_NB, LOCK_UN] = [2, 4, 8];
  return { tryLock: (fd) => flock(fd, LOCK_EX | LOCK_NB) === 0, unlock: (fd) => void flock(fd, LOCK_UN) };
}
