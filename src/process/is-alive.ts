import { readFileSync } from "node:fs";

/** Whether there is a process of this number, whoever's it is. One that has ended and waits to be collected is none. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return !hasEnded(pid);
}

/** Only Linux tells; the state is what follows the name, which may hold anything. */
function hasEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
