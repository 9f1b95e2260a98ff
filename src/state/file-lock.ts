// The lock for platforms without the kernel lock's addon: slower, and just as exclusive.
// Holding it means owning a claim file that was created exclusively. A claim whose process has died is removed by whoever
// creates the claim's successor (`<claim>.<nonce>`) exclusively; a successor whose maker died has a successor in turn, so
// exactly one living process may remove any dead claim, and no claim is ever removed by two. A holder that cannot be proved
// dead is waited for, never robbed.
import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../files/index.js";
import type { Lock } from "./lock.js";
import { asHolder, type Holder, isDead, thisProcess } from "./lock-holder.js";

interface Claim extends Holder {
  readonly nonce: string;
}

const claimPath = (lock: string): string => `${lock}.claim`;

/** `heldElsewhere` tells of a holder that makes no claims; it is asked once ours is there for all to see. */
export function fileLock(path: string, heldElsewhere: () => boolean = () => false): Lock {
  const own = claimPath(path);
  return {
    tryAcquire() {
      makeFolder(dirname(path));
      if (!makeClaim(own)) {
        clearIfDead(own, own);
        if (!makeClaim(own)) return false;
      }
      if (!heldElsewhere()) return true;
      rmSync(own, { force: true });
      return false;
    },
    release() {
      rmSync(own, { force: true });
    },
  };
}

/** Whether a living process holds the lock by a claim. Takes away the claim of a dead one. */
export function isClaimed(lock: string): boolean {
  const path = claimPath(lock);
  if (!existsSync(path)) return false;
  clearIfDead(path, path);
  return existsSync(path);
}

export function claimant(lock: string): number | null {
  return readClaim(claimPath(lock))?.pid ?? null;
}

/** Creates a claim with its content already in it: a hard link appears whole or not at all. */
function makeClaim(path: string): boolean {
  const nonce = randomBytes(8).toString("hex");
  const draft = `${path}.draft-${process.pid}-${nonce}`;
  const content: Claim = { ...thisProcess(), nonce };
  writeFileSync(draft, JSON.stringify(content), { flag: "wx" });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes the claim at `path` if its process is dead and nobody else has earned that right. */
function clearIfDead(path: string, base: string): void {
  const claim = readClaim(path);
  if (claim === null || !isDead(claim)) return;
  const successor = `${base}.${claim.nonce}`;
  if (!makeClaim(successor)) {
    clearIfDead(successor, base);
    return;
  }
  // We alone may remove it now; it can still be there only if it is the same dead claim.
  if (readClaim(path)?.nonce === claim.nonce) rmSync(path, { force: true });
  rmSync(successor, { force: true });
}

function readClaim(path: string): Claim | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    const holder = asHolder(value);
    const { nonce } = value as { nonce?: unknown };
    return holder === null || typeof nonce !== "string" || !/^[0-9a-f]+$/.test(nonce) ? null : { ...holder, nonce };
  } catch {
    return null;
  }
}
