// Who holds a lock, in words another process can check: whether that process still lives.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface Holder {
  readonly pid: number;
  /** Machine and pid namespace: a pid means nothing outside them. */
  readonly place: string;
  readonly boot: string;
  /** When the process started, so that a reused pid is not taken for it. */
  readonly started: string | null;
}

let self: Holder | undefined;

/** This process. Nothing in it changes while the process lives. */
export function thisProcess(): Holder {
  self ??= { pid: process.pid, place: place(), boot: boot(), started: startOf(process.pid) };
  return self;
}

/** Proved dead. One that cannot be proved dead (another machine, another pid namespace) is not. */
export function isDead({ pid, place: where, boot: when, started }: Holder): boolean {
  const here = thisProcess();
  if (where !== here.place) return false;
  if (when !== here.boot) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
  const now = startOf(pid);
  return started !== null && now !== null && now !== started;
}

/** null for what is no holder. */
export function asHolder(value: unknown): Holder | null {
  if (typeof value !== "object" || value === null) return null;
  const { pid, place: where, boot: when, started } = value as Partial<Record<keyof Holder, unknown>>;
  if (!Number.isInteger(pid) || typeof where !== "string" || typeof when !== "string") return null;
  return { pid: pid as number, place: where, boot: when, started: typeof started === "string" ? started : null };
}

function place(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return `${hostname()} `;
  }
}

const boot = () => textOf("/proc/sys/kernel/random/boot_id").trim();

function startOf(pid: number): string | null {
  // The command name (field 2) may hold spaces and brackets; the fields after it do not.
  const fields = textOf(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ");
  return fields?.[19] ?? null;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
