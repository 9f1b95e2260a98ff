// The process's own edges: signals, stdio, prompts. Nothing else in the product touches them.

import { STOP_WITH_INPUT } from "../process/self.js";
import type { Program } from "./command.js";
import type { Io } from "./io.js";
import { main } from "./main.js";
import { STOPPING, stoppedBy } from "./stopped-by.js";

/** Runs a program against the real process. The second Ctrl-C ends it at once. */
export async function runProcess(program: Program): Promise<number> {
  let made: AbortController | null = null;
  const controller = () => {
    made ??= new AbortController();
    return made;
  };
  const stop = (name: NodeJS.Signals) => {
    if (controller().signal.aborted) process.exit(stoppedBy(name));
    controller().abort(name);
  };
  const names = Object.keys(STOPPING) as NodeJS.Signals[];
  for (const name of names) process.on(name, stop);
  stopWithInput(() => stop("SIGTERM"));
  try {
    return await main(program, process.argv.slice(2), processIo(controller));
  } finally {
    for (const name of names) process.off(name, stop);
  }
}

/** Who starts us with this and holds our input ends us by being gone, however that happens. Our own children know nothing of it. */
function stopWithInput(stop: () => void): void {
  if (process.env[STOP_WITH_INPUT] !== "1") return;
  delete process.env[STOP_WITH_INPUT];
  process.stdin
    .once("close", stop)
    .on("error", () => {})
    .resume();
  // Waiting for that keeps nobody from ending.
  (process.stdin as { unref?: () => void }).unref?.();
}

/** Each stream, and the controller, is made when it is first used: making them takes longer than many commands. */
function processIo(controller: () => AbortController): Io {
  let stdout: Io["stdout"] | null = null;
  let stderr: Io["stderr"] | null = null;
  // A terminal that was closed takes no more words, and what is under way still has to end well.
  const whenGone = (error: NodeJS.ErrnoException) => {
    if (!(controller().signal.aborted && error.code === "EIO")) endQuietly(error);
  };
  return {
    cwd: process.cwd(),
    env: process.env,
    now: () => new Date(),
    get signal() {
      return controller().signal;
    },
    stdin: () => process.stdin,
    get stdout() {
      stdout ??= process.stdout.on("error", whenGone);
      return stdout;
    },
    get stderr() {
      stderr ??= process.stderr.on("error", whenGone);
      return stderr;
    },
    get ask() {
      return canAnswer() ? lazyPrompter(controller()) : null;
    },
  };
}

/** A reader that went away (`nutshell inspect x | head`) is not an error. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
}

function canAnswer(): boolean {
  return (process.env.CI ?? "") === "" && process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Prompts are rare and readline is not small, so it is loaded at the first question. */
function lazyPrompter(controller: AbortController): Io["ask"] {
  const prompter = async () =>
    (await import("./prompt.js")).terminalPrompter(process.stdin, process.stderr, controller);
  return {
    text: async (question, options) => (await prompter()).text(question, options),
    confirm: async (question, options) => (await prompter()).confirm(question, options),
    secret: async (question) => (await prompter()).secret(question),
  };
}
