// The lock for platforms without the kernel lock's addon: slower, and just as exclusive.
// Holding it means owning a claim file that was created exclusively. A claim whose process has died is removed by whoever
// creates the claim's successor (`<claim>.<nonce>`) exclusively; a successor whose maker died has a successor in turn, so
// exactly one living process may remove any dead claim, and no claim is ever removed by two. A holder that cannot be proved
// dead (another machine, another pid namespace) is waited for, never robbed.
import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { Lock } from "./lock.js";

interface Claim {
  readonly pid: number;
  readonly nonce: string;
  /** Machine and pid namespace: a pid means nothing outside them. */
  readonly place: string;
  readonly boot: string;
  /** When the process started, so that a reused pid is not taken for it. */
  readonly started: string | null;
}

export function fileLock(path: string): Lock {
  const claimPath = `${path}.claim`;
  return {
    tryAcquire() {
      mkdirSync(dirname(path), { recursive: true });
      if (claim(claimPath)) {
        writeFileSync(path, `${process.pid}\n`);
        return true;
      }
      clearIfDead(claimPath, claimPath);
      return false;
    },
    release() {
      rmSync(claimPath, { force: true });
    },
  };
}

/** Creates a claim with its content already in it: a hard link appears whole or not at all. */
function claim(path: string): boolean {
  const nonce = randomBytes(8).toString("hex");
  const draft = `${path}.draft-${process.pid}-${nonce}`;
  const content: Claim = { pid: process.pid, nonce, place: place(), boot: boot(), started: started(process.pid) };
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
  const held = readClaim(path);
  if (held === null || !isDead(held)) return;
  const successor = `${base}.${held.nonce}`;
  if (!claim(successor)) {
    clearIfDead(successor, base);
    return;
  }
  // We alone may remove it now; it can still be there only if it is the same dead claim.
  if (readClaim(path)?.nonce === held.nonce) rmSync(path, { force: true });
  rmSync(successor, { force: true });
}

function readClaim(path: string): Claim | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Claim;
  } catch {
    return null;
  }
}

function isDead(held: Claim): boolean {
  if (held.place !== place()) return false;
  if (held.boot !== boot()) return true;
  try {
    process.kill(held.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
  const now = started(held.pid);
  return held.started !== null && now !== null && now !== held.started;
}

const place = () => `${hostname()} ${link("/proc/self/ns/pid")}`;
const boot = () => text("/proc/sys/kernel/random/boot_id").trim();

function started(pid: number): string | null {
  // The command name (field 2) may hold spaces and brackets; the fields after it do not.
  const fields = text(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ");
  return fields?.[19] ?? null;
}

function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
