// What a holder of the kernel's lock leaves in the lock's file, for processes that cannot ask the kernel: who, and whether
// still. Whoever gave the lock back stays named, so that a refusal can name the one that comes and goes.
import { readFileSync, writeSync } from "node:fs";
import { asHolder, type Holder, isDead, thisProcess } from "./lock-holder.js";

/** Longer than any holder. Fixed, so that each mark overwrites the one before. */
const MARK_CHARS = 1024;

interface Mark {
  readonly holder: Holder;
  readonly held: boolean;
}

const texts = new Map<"held" | "free", string>();

export function writeMark(fd: number, state: "held" | "free"): void {
  let text = texts.get(state);
  if (text === undefined) {
    text = `${JSON.stringify({ held: state === "held", ...thisProcess() }).padEnd(MARK_CHARS - 1)}\n`;
    texts.set(state, text);
  }
  try {
    writeSync(fd, text, 0);
  } catch {
    // A full disk is no reason not to hold the lock: deleting needs it too. A claim could not be made on it either.
  }
}

/** Whether a process that may be alive holds the lock by the kernel. */
export function isMarked(path: string): boolean {
  const mark = readMark(path);
  return mark?.held === true && !isDead(mark.holder);
}

/** Who holds it by the kernel, or had it last; null when that is this process, which gave it back. */
export function markedPid(path: string): number | null {
  const mark = readMark(path);
  if (mark === null || (!mark.held && mark.holder.pid === process.pid)) return null;
  return mark.holder.pid;
}

/** null for what no version of ours wrote. A mark that is being written is looked at again. */
function readMark(path: string): Mark | null {
  for (let before: string | null = null; ; ) {
    const text = markAt(path);
    if (text === "" || text === before) return null;
    try {
      const value: unknown = JSON.parse(text);
      const holder = asHolder(value);
      return holder === null ? null : { holder, held: (value as { held?: unknown }).held === true };
    } catch {
      before = text;
    }
  }
}

function markAt(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
