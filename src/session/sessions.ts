// Which sessions of this harness are alive. A host that was killed fires no end, so a session is believed alive only while
// the process it was started from is; where that process is not known, for a day.
import { readFileSync } from "node:fs";
import { isAlive } from "../process/is-alive.js";
import type { LiveSession } from "../schema/tracker.js";

export interface ProcessMark {
  readonly pid: number;
  /** When the kernel says it started; a reused pid has another. Absent where the kernel does not tell. */
  readonly started?: string;
}

const UNWATCHED_MS = 24 * 60 * 60 * 1000;

export function otherLiveSessions(sessions: readonly LiveSession[], sessionId: string, now: Date): number {
  return sessions.filter((session) => session.session_id !== sessionId && isLive(session, now)).length;
}

export function isLive({ pid, started_at, ...rest }: LiveSession, now: Date): boolean {
  if (pid === undefined) return now.getTime() - Date.parse(started_at) < UNWATCHED_MS;
  const started = (rest as { process_started?: unknown }).process_started;
  if (typeof started === "string") return processStarted(pid) === started;
  return isAlive(pid);
}

/** The start time of a process in kernel ticks, or null when there is no such process or no /proc. */
export function processStarted(pid: number): string | null {
  return statOf(pid)?.[19] ?? null;
}

/** Fields of /proc/<pid>/stat after the name, which may itself hold spaces and brackets. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

/** What hosts start hooks through. */
const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "fish", "env", "timeout"]);

/** The host a hook was started by: the nearest ancestor that is neither a shell nor a watch. */
export function hostProcess(parent: number): ProcessMark | null {
  let pid = parent;
  for (let i = 0; i < 8 && pid > 1; i += 1) {
    const fields = statOf(pid);
    if (fields === null) return { pid };
    if (!SHELLS.has(nameOf(pid))) return { pid, started: fields[19]! };
    pid = Number(fields[1]);
  }
  return null;
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}
