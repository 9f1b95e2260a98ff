// The process a host starts for every event: `node hook.js <host> [event]`. Small on purpose; no argument parser, no schemas.
// It exits 0 or 2 and nothing else: any other status, a crash or a time-out lets a tool run.
import type { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { asksForGate, findHost } from "../hosts/index.js";
import { STANDALONE } from "../process/self.js";
import { hostProcess } from "../session/sessions.js";
import { answerHook } from "./answer-hook.js";
import { readInput } from "./read-input.js";

/** A gate answers well before any host's patience ends; other events may wait for a lock. */
const GATE_MS = 1_800;
/** Where a gate may be the first to see an agent, its tree is remembered there; the shell around it waits 5 s. */
const STARTING_MS = 4_000;
const OTHER_MS = 14_000;

/** No event of any host: we start ourselves with it. */
const REMEMBER = "remember";

export async function hookMain(argv: readonly string[]): Promise<void> {
  const [name = "", hint] = argv;
  const host = findHost(name);
  if (host !== null && hint === REMEMBER) {
    const { rememberTree } = await import("../session/full.js");
    return rememberTree(process.cwd(), host.harnessId, process.env);
  }
  const gates = host === null || asksForGate(host, hint);
  const giveUp = (why: string) => end("", `nexus: could not decide${why}${gates ? "; denied" : ""}\n`, gates ? 2 : 0);
  const bug = (error: unknown) => giveUp(`: ${String(error).replace(/\s+/g, " ").slice(0, 300)}`);
  const late = () => giveUp(" in time");
  // A promise that nobody hears ends up here too.
  process.on("uncaughtException", bug);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, late);
  // It keeps the process alive on purpose: one that waits for something that never comes would end with a status of Node's own.
  setTimeout(late, gates ? (host?.startsAtGate === true ? STARTING_MS : GATE_MS) : OTHER_MS);

  if (host === null) return end("", `nexus: unknown host "${name.slice(0, 40)}"; denied\n`, 2);
  const raw = await readInput(process.stdin);
  const around = {
    env: process.env,
    now: () => new Date(),
    process: () => hostProcess(process.ppid),
    prepare: (tree: string, start: typeof spawn) => prepare(tree, name, start),
  };
  const answer = await answerHook(host, raw, around, hint);
  end(answer.stdout, answer.stderr, answer.exit);
}

/** In a process of its own, which nobody waits for. `start` is handed in: a gate needs none and would load it for nothing. */
function prepare(tree: string, host: string, start: typeof spawn): void {
  const words = STANDALONE ? ["hook"] : process.argv.slice(1, 2);
  const child = start(process.execPath, [...words, host, REMEMBER], { cwd: tree, detached: true, stdio: "ignore" });
  child.on("error", () => {});
  child.unref();
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
