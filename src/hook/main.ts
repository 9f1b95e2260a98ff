// The process a host starts for every event: `node hook.js <host> [event]`. Small on purpose; no argument parser, no schemas.
// It exits 0 or 2 and nothing else: any other status, a crash or a time-out lets a tool run.
import { writeSync } from "node:fs";
import { answerHook } from "./answer-hook.js";
import { findHost, hostProcess } from "./face.js";
import { readInput } from "./read-input.js";

/** A gate answers well before any host's patience ends; other events may wait for a lock. */
const GATE_MS = 1_800;
const OTHER_MS = 14_000;

export async function hookMain(argv: readonly string[]): Promise<void> {
  const [name = "", hint] = argv;
  const gates = hint === undefined || hint === "PreToolUse";
  const late = () => end("", "nexus: could not decide in time; denied\n", gates ? 2 : 0);
  const bug = (error: unknown) => end("", `nexus: could not decide: ${String(error).slice(0, 300)}\n`, gates ? 2 : 0);
  process.on("uncaughtException", bug);
  process.on("unhandledRejection", bug);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, late);
  setTimeout(late, gates ? GATE_MS : OTHER_MS).unref();

  const host = findHost(name);
  if (host === null) return end("", `nexus: unknown host "${name.slice(0, 40)}"; denied\n`, 2);
  const raw = await readInput(process.stdin);
  const answer = await answerHook(host, raw, {
    env: process.env,
    now: () => new Date(),
    process: () => hostProcess(process.ppid),
    hint,
  });
  end(answer.stdout, answer.stderr, answer.exit);
}

function end(stdout: string, stderr: string, exit: 0 | 2): void {
  writeAll(1, stdout);
  writeAll(2, stderr);
  process.exit(exit);
}

/** A pipe may be full or gone. What cannot be said must not change the exit status. */
function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0, tries = 0; at < bytes.length && tries < 10_000; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      tries += 1;
    }
  }
}
