// What one session of a run was told and what it says, as it is said. Everything in these files was scrubbed of secrets
// before it was written.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { NutError } from "../../errors.js";
import { runsFolder } from "../../run/index.js";

const PARTS: Readonly<Record<string, string>> = {
  prompt: "prompt.md",
  role: "role.md",
  report: "report.md",
  log: "log.jsonl",
};
const MOST_BYTES = 512 * 1024;

export interface SessionPart {
  readonly text: string;
  /** Where to read on; only whole lines count. */
  readonly next: number;
  readonly more: boolean;
}

/** From `from` on. Only names as a journal has them: nothing else in the folder, or beside it, is reachable. */
export function readSession(root: string, run: string, agent: string, part: string, from: number): SessionPart {
  const file = Object.hasOwn(PARTS, part) ? PARTS[part] : undefined;
  const isName = (name: string) => /^[A-Za-z0-9][\w.-]{0,120}$/.test(name);
  if (file === undefined || !isName(run) || !isName(agent) || !Number.isSafeInteger(from) || from < 0) throw missing();
  const path = join(runsFolder(root), run, "agents", agent, file);
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    // Not said yet, or pruned: there is nothing to read, which is no mistake.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { text: "", next: from, more: false };
    throw missing();
  }
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw missing();
    const buffer = Buffer.alloc(Math.max(0, Math.min(stats.size - from, MOST_BYTES)));
    const bytes = buffer.subarray(0, readSync(handle, buffer, 0, buffer.length, from));
    const whole = part === "log" ? bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1) : bytes;
    const next = from + whole.length;
    return { text: whole.toString("utf8"), next, more: stats.size > from + bytes.length };
  } finally {
    closeSync(handle);
  }
}

function missing(): NutError {
  return new NutError("ENTRY_NOT_FOUND", "there is nothing of this session", {
    hint: "load the page again: the run may have been pruned",
  });
}
