// A control group of the kernel's (version 2) for one child and all it starts. Only where one may be made without asking
// anybody: a desktop's session and root's have such a place, most containers do not.
import { randomBytes } from "node:crypto";
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { isAlive } from "./is-alive.js";

export interface ControlGroup {
  /** Whoever writes its number in there belongs to the group, with all it starts. */
  readonly members: string;
  /** Whether the kernel had to refuse a process or to end one for want of memory. */
  refused(): "tasks" | "memory" | null;
  /** Ends whoever is left in it. */
  remove(): void;
}

interface Share {
  readonly tasks: number;
  readonly memoryBytes: number;
}

const NAME = /^nutcracker-(\d+)-[0-9a-f]+$/;

let place: string | null | undefined;

/** null where there is no place for one. */
export function makeControlGroup(share: Share): ControlGroup | null {
  if (place === undefined) place = findPlace();
  return place === null ? null : makeGroupIn(place, share);
}

export function makeGroupIn(where: string, share: Share): ControlGroup | null {
  sweepGroups(where);
  const folder = join(where, `nutcracker-${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    mkdirSync(folder);
  } catch {
    return null;
  }
  // Each only where the kernel offers it; what is missing is watched.
  write(join(folder, "pids.max"), share.tasks);
  write(join(folder, "memory.max"), share.memoryBytes);
  write(join(folder, "memory.swap.max"), 0);
  write(join(folder, "memory.oom.group"), 1);
  return {
    members: join(folder, "cgroup.procs"),
    refused: () => {
      if (count(join(folder, "pids.events"), "max") > 0) return "tasks";
      return count(join(folder, "memory.events"), "oom_kill") > 0 ? "memory" : null;
    },
    remove: () => {
      write(join(folder, "cgroup.kill"), 1);
      removeGroup(folder);
    },
  };
}

function findPlace(): string | null {
  try {
    return placeIn(readFileSync("/proc/self/cgroup", "utf8"), readFileSync("/proc/self/mountinfo", "utf8"));
  } catch {
    return null;
  }
}

/**
 * Beside our own group, or in the root, which alone may hold processes and groups both. What is there must already be
 * divided by the kernel, and moving a process there must be ours to do.
 */
export function placeIn(cgroup: string, mountinfo: string): string | null {
  const path = /^0::(\/.*)$/m.exec(cgroup)?.[1];
  const mount = mountinfo
    .split("\n")
    .map((line) => line.split(" "))
    .find((fields) => fields[fields.indexOf("-") + 1] === "cgroup2");
  if (path === undefined || mount === undefined) return null;
  const [root, mountPoint] = [mount[3]!, mount[4]!];
  const inside = posix.relative(root, path);
  if ([...path.split("/"), ...inside.split("/")].includes("..")) return null;
  const own = join(mountPoint, inside);
  const folder = inside === "" ? own : dirname(own);
  return isOurs(folder) ? folder : null;
}

function isOurs(folder: string): boolean {
  try {
    const divided = readFileSync(join(folder, "cgroup.subtree_control"), "utf8").split(/\s+/);
    if (!divided.includes("pids") && !divided.includes("memory")) return false;
    for (const path of [folder, join(folder, "cgroup.procs")]) accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Groups of processes that were killed before they could remove theirs. */
function sweepGroups(where: string): void {
  for (const name of readdirSync(where)) {
    const owner = NAME.exec(name)?.[1];
    if (owner !== undefined && Number(owner) !== process.pid && !isAlive(Number(owner))) removeGroup(join(where, name));
  }
}

function removeGroup(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody is still dying in it: the next one sweeps it.
  }
}

function write(file: string, value: number): void {
  try {
    writeFileSync(file, String(value), { flag: "r+" });
  } catch {
    // Not offered here.
  }
}

function count(file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(readFileSync(file, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
