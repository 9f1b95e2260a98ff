// Who a child left behind. A process group is not enough (setsid leaves it) and neither is parentage (a double fork is
// adopted by init), so a child also carries a mark in its environment, which its descendants inherit.
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

/** Environment variable that marks a child and everything it starts. Its value names one child. */
export const CHILD_MARK = "NUT_CHILD";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly name: string;
  readonly zombie: boolean;
  readonly threads: number;
  readonly residentPages: number;
  /** When it began, as the kernel counts. */
  readonly began: number;
}

/** What a child's descendants carry. Whoever began before it is none of them, and need not be asked. */
export interface Mark {
  readonly value: string;
  readonly since: number;
}

/** Of a child that has just been started. */
export const markOf = (pid: number, value: string): Mark => ({ value, since: readRow(pid)?.began ?? 0 });

/** Living processes that descend from `root`, by parentage, group, session or mark; without `root` itself. Empty where there is no /proc. */
export function descendants(root: number, mark?: Mark): { pid: number; name: string }[] {
  const rows = processes();
  const family = members(rows, root, mark);
  return rows.filter(({ pid, zombie }) => pid !== root && !zombie && family.has(pid));
}

/** Of processes already looked at: `root` and all that descend from it by parentage, group or session. */
export function familyOf(rows: readonly ProcessRow[], root: number): ProcessRow[] {
  const family = members(rows, root);
  return rows.filter(({ pid, zombie }) => !zombie && family.has(pid));
}

function members(rows: readonly ProcessRow[], root: number, mark?: Mark): ReadonlySet<number> {
  const family = new Set([root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent, group, session } of rows) {
      if (family.has(pid) || !(family.has(parent) || family.has(group) || family.has(session))) continue;
      family.add(pid);
      grown = true;
    }
    if (grown || mark === undefined) continue;
    for (const { pid, began } of rows) {
      if (family.has(pid) || began < mark.since || !carries(pid, mark.value)) continue;
      family.add(pid);
      grown = true;
    }
  }
  return family;
}

export function processes(): ProcessRow[] {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return [];
  }
  const rows: ProcessRow[] = [];
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    const row = readRow(Number(name));
    if (row !== null) rows.push(row);
  }
  return rows;
}

/** Whether there is such a process that has not ended. */
export function isRunning(pid: number): boolean {
  return readRow(pid)?.zombie === false;
}

function readRow(pid: number): ProcessRow | null {
  try {
    const text = readLine(`/proc/${pid}/stat`);
    // The name stands in brackets and may hold anything, brackets included.
    const end = text.lastIndexOf(")");
    const fields = text.slice(end + 2).split(" ");
    const [state, parent, group, session] = fields;
    return {
      pid,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      name: text.slice(text.indexOf("(") + 1, end),
      zombie: state === "Z" || state === "X",
      threads: Number(fields[17]),
      residentPages: Number(fields[21]),
      began: Number(fields[19]),
    };
  } catch {
    return null;
  }
}

/** Everybody on the machine is read several times a second: one buffer for all, and nobody asks how long the file is. */
const line = Buffer.alloc(4_096);

function readLine(path: string): string {
  const file = openSync(path, "r");
  try {
    return line.toString("latin1", 0, readSync(file, line));
  } finally {
    closeSync(file);
  }
}

/** Processes whose home is this folder, whoever started them. Empty where there is no /proc. */
export function homeDwellers(home: string): number[] {
  const living = processes().filter(({ zombie }) => !zombie);
  return living.filter(({ pid }) => hasVariable(pid, `HOME=${home}`)).map(({ pid }) => pid);
}

const carries = (pid: number, mark: string): boolean => hasVariable(pid, `${CHILD_MARK}=${mark}`);

function hasVariable(pid: number, pair: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(pair);
  } catch {
    return false;
  }
}
