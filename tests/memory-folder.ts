// Where the folders of tests lie: in memory where there is enough of it, since a third of the whole run was the disk and what
// waits for it. Which files (clean-up.ts) are those that write most; where the disk is the subject, it is the disk.
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

const MEMORY = "/dev/shm";
const PREFIX = "nut-tests-";
const ENOUGH = 4 * 2 ** 30;

/** A folder in memory for this run, and how to be rid of it; null where there is no room, or no program may be run there. */
export function memoryFolder(): { readonly path: string; remove(): void } | null {
  if (!isUsable()) return null;
  removeLeftovers();
  const path = join(MEMORY, `${PREFIX}${process.pid}`);
  mkdirSync(path, { mode: 0o755 });
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

function isUsable(): boolean {
  try {
    const mount = readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .findLast(([, place]) => place === MEMORY);
    const { bavail, bsize } = statfsSync(MEMORY);
    return mount?.[2] === "tmpfs" && !mount[3]!.split(",").includes("noexec") && bavail * bsize >= ENOUGH;
  } catch {
    return false;
  }
}

/** Of runs that were killed: memory is not given back by itself. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)$`).exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
